// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The one line of JSON that a replay, or its preparation, prints; docs/reference/replay.md explains
// the fields.
#pragma once

#include "worker_pool.hpp"

#include "replayer/plan.hpp"

#include <string>

namespace heapwright::replayer {

std::string describePlan(const PlanHeader& header);
std::string describeReplay(const PlanHeader& header, const Outcome& outcome, const Check* check);

} // namespace heapwright::replayer
