// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A live block of a trace that is being generated.
#pragma once

#include "trace/event.hpp"

#include <cstdint>

namespace heapwright::synth {

struct Block {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint32_t ender = 0; ///< the thread that is to free it
    trace::Routine routine = trace::Routine::malloc;
};

} // namespace heapwright::synth
