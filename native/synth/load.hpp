// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws a load from a plan and writes it as a trace. A clock counts the plan's operations; blocks
// end when their lifetime on it is over. The allocations of a phase come in random order, each as
// often as the plan has it. What is live at any time follows from the lifetimes; what would outlive
// the phases, but not for ever, ends with them. Memory is that of the blocks that are live and will
// be freed.
#pragma once

#include "synth/output.hpp"
#include "synth/plan.hpp"

namespace heapwright::synth {

void generate(const Plan& plan, Output& output);

} // namespace heapwright::synth
