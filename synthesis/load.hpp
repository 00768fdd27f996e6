// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws a load from a plan and writes it as a trace. Each operation is the free of a block whose
// time has come, or else an allocation, of a size and a lifetime that the phase says; so frees come
// when the lifetimes that were drawn say, and what is live at any time follows. Memory is that of
// the blocks that are live and will be freed.
#pragma once

#include "synthesis/output.hpp"
#include "synthesis/plan.hpp"

namespace heapwright::synthesis {

void generate(const Plan& plan, Output& output);

} // namespace heapwright::synthesis
