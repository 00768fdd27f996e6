// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The trace that is being generated: allocations and frees become events, one after the other on
// one invented clock, with invented addresses. The caller keeps the blocks.
#pragma once

#include "synth/address_space.hpp"
#include "synth/block.hpp"
#include "trace/writer.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace heapwright::synth {

/// A call as it is to be made.
struct Request {
    trace::Routine routine = trace::Routine::malloc;
    std::uint64_t size = 0;
    std::uint64_t alignment = 0; ///< a power of two for routines that have one, else 0
};

class Output {
public:
    /// Throws what the writer throws where the file cannot be written.
    Output(const std::string& path, std::uint32_t threads, const std::vector<std::string>& command);

    std::uint32_t threads() const { return static_cast<std::uint32_t>(threads_.size()); }

    /// The default time from one call to the next, in nanoseconds.
    void pace(double nanoseconds) { step_ = nanoseconds; }

    /// Sets the time to `nanoseconds` after the beginning, unless that time is already past.
    void passTo(double nanoseconds) { time_ = std::max(time_, nanoseconds); }

    /// The block that `thread` gets; it will be freed by the same thread if nothing else is said.
    Block allocate(std::uint32_t thread, const Request& request);

    /// Frees the block by its `ender`.
    void free(const Block& block);
    void freeNull(std::uint32_t thread);

    /// The block's `ender` makes it another size; the new block is its own. A block that does not
    /// grow moves, so that each call counts as an allocation.
    Block reallocate(const Block& block, std::uint64_t size);

    std::uint64_t events() const { return events_; }

    /// The file is whole only after this. Throws what the writer throws.
    void close();

private:
    trace::Event begin(std::uint32_t thread, trace::Routine routine);

    trace::TraceWriter writer_;
    std::vector<std::uint32_t> threads_; ///< by this object's number: the writer's
    AddressSpace places_;
    double step_ = 50; ///< ns
    double time_ = 0;  ///< ns
    std::uint64_t events_ = 0;
};

} // namespace heapwright::synth
