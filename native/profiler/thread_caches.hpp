// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A model of the caches in which glibc keeps freed blocks: up to seven of each size for a thread.
// Such a block is not merged with free memory, so it keeps what lies below it from being trimmed.
//
// Invariant: a block that was allocated again is in no cache of the thread that got it.
// Cost: an addition and a comparison for each call; a search of seven addresses at most.
// Source: the documented defaults of glibc.malloc.tcache_count and glibc.malloc.tcache_max.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwright::profiler {

class ThreadCaches {
public:
    void allocated(std::uint64_t address, std::uint64_t usable, std::uint32_t thread) {
        if (usable > largest || thread >= threads_.size()) {
            return;
        }
        Bin& bin = threads_[thread][usable / granule];
        for (std::size_t at = bin.count; at-- != 0;) {
            if (bin.blocks[at].address == address) {
                bin.blocks[at] = bin.blocks[--bin.count];
                return;
            }
        }
    }

    /// Whether a cache keeps the block. `order` rises from one call to the next.
    bool freed(std::uint64_t address, std::uint64_t usable, std::uint32_t thread,
               std::uint64_t order) {
        if (usable > largest) {
            return false;
        }
        if (thread >= threads_.size()) {
            threads_.resize(std::size_t{thread} + 1);
        }
        Bin& bin = threads_[thread][usable / granule];
        if (bin.count == bin.blocks.size()) {
            return false;
        }
        bin.blocks[bin.count++] = {address, order};
        return true;
    }

    /// The highest block from `begin` to `end` that came into a cache before `order`; `begin` if
    /// there is none.
    std::uint64_t highest(std::uint64_t begin, std::uint64_t end, std::uint64_t order) const {
        std::uint64_t found = begin;
        for (const Thread& thread : threads_) {
            for (const Bin& bin : thread) {
                for (std::size_t at = 0; at < bin.count; ++at) {
                    const Block& block = bin.blocks[at];
                    if (block.address < end && block.order < order) {
                        found = std::max(found, block.address);
                    }
                }
            }
        }
        return found;
    }

private:
    static constexpr std::uint64_t largest = 1032; ///< usable bytes
    static constexpr std::uint64_t granule = 16;

    struct Block {
        std::uint64_t address = 0;
        std::uint64_t order = 0;
    };
    struct Bin {
        std::array<Block, 7> blocks{};
        std::size_t count = 0;
    };
    using Thread = std::array<Bin, largest / granule + 1>;

    std::vector<Thread> threads_;
};

} // namespace heapwright::profiler
