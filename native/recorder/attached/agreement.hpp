// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What heapwright-attach passes to the agent's functions and reads back. It lies on the stack of
// the thread that makes the call. Each function gets its address.
#pragma once

#include <cstdint>

namespace heapwright::recorder::attached {

enum class Result : std::uint32_t {
    none = 0, ///< the function has not returned
    done = 1,
    noTrace = 2,    ///< the trace could not be opened by the process
    noAddress = 3,  ///< the agent's own object was not found
    noPages = 4,    ///< the system provides no memory, or does not permit to write the tables
    outOfOrder = 5, ///< begun twice, or stopped without a beginning
};

struct Agreement {
    std::uint64_t handle;     ///< for dlclose; set by `begin` and `stop`
    std::uint32_t slots;      ///< entries of import tables that were redirected or restored
    std::uint32_t unrestored; ///< mappings that `release` could not account for
    Result result;
    std::uint32_t entries;   ///< of `entry`
    std::uint64_t entry[24]; ///< addresses of the recorder's routines, inverted; set by `stop`
    char trace[4000];        ///< read by `begin`
};

} // namespace heapwright::recorder::attached
