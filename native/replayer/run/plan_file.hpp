// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A plan, opened for a replay. Only what was written by `prepare` of the same program is accepted.
#pragma once

#include "replayer/plan.hpp"

#include <cstddef>
#include <span>

namespace heapwright::replayer {

struct Plan {
    int file = -1;
    PlanHeader header{};
    std::span<const PlanThread> threads; ///< at least one
    const char* mapped = nullptr;        ///< all of the file; null if it is to be streamed
};

/// Leaves if it cannot be used. A plan of up to `resident` bytes is mapped, and read at once.
Plan openPlan(const char* path, std::size_t resident);

} // namespace heapwright::replayer
