// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of `heapwright-replay run`.
#pragma once

#include "touch_policy.hpp"

#include <cstddef>

namespace heapwright::replayer {

struct RunOptions {
    const char* plan = nullptr;
    Touch touch = Touch::none;
    bool check = false;
    bool latencies = true;
    const char* curve = nullptr;                  ///< a file to write it to
    std::size_t resident = std::size_t{64} << 20; ///< plans up to this are read beforehand
};

/// Leaves if it makes no sense.
RunOptions readRunOptions(int argc, char** argv);

} // namespace heapwright::replayer
