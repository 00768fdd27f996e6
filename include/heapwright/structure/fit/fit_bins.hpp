// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Free blocks by size, for approximate best fit. There is a bin for each size below 1 KiB, and
// above that eight bins per doubling. A bitmap finds the next occupied bin by a bit scan. Blocks of
// one bin are in the order in which they were freed.
//
// Within a large bin, the best of the first few blocks is taken.
// Cost: constant, independent of the bins' contents.
// Source: Doug Lea, "A Memory Allocator" (1996). Its large bins are sorted instead.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/fit/block.hpp>
#include <heapwright/structure/list/ring.hpp>

#include <cstddef>
#include <cstdint>

namespace heapwright {

class FitBins {
public:
    constexpr FitBins() noexcept = default;

    void add(Block* block) noexcept {
        const std::size_t bin = binOf(block->size());
        std::uint64_t& word = occupied_[bin / wordBits];
        const std::uint64_t bit = std::uint64_t{1} << (bin % wordBits);
        if ((word & bit) == 0) {
            word |= bit;
            bins_[bin].reset();
        }
        bins_[bin].addBack(&block->links);
    }

    /// If the bin becomes empty, its bit stays set until the next search.
    static void remove(Block* block) noexcept { Ring::remove(&block->links); }

    /// Removes and returns a block of at least `size` bytes, approximately the smallest; null if
    /// there is none.
    [[nodiscard]] Block* takeFit(std::size_t size) noexcept {
        for (std::size_t bin = nextOccupied(binOf(size)); bin < count;
             bin = nextOccupied(bin + 1)) {
            if (Block* const found = bestOf(bin, size)) {
                remove(found);
                return found;
            }
        }
        return nullptr;
    }

    /// Calls `visit` with each block.
    template <class Visit>
    void forEach(Visit visit) noexcept {
        for (std::size_t bin = nextOccupied(0); bin < count; bin = nextOccupied(bin + 1)) {
            RingNode* node = bins_[bin].front();
            while (node != bins_[bin].end()) {
                RingNode* const next = node->next;
                visit(Block::of(node));
                node = next;
            }
        }
    }

    void clear() noexcept {
        for (std::uint64_t& word : occupied_) {
            word = 0;
        }
    }

private:
    static constexpr std::size_t wordBits = 64;
    static constexpr std::size_t smallCount = 64; ///< one for each multiple of 16 below 1 KiB
    static constexpr std::size_t smallLog = 10;
    static constexpr std::size_t perDoubling = 8;
    static constexpr std::size_t largestLog = 47; ///< no user address has more bits
    static constexpr std::size_t count = smallCount + (largestLog - smallLog + 1) * perDoubling;
    static constexpr std::size_t words = (count + wordBits - 1) / wordBits;
    static constexpr int depth = 32; ///< number of blocks of a bin that a search visits

    static constexpr std::size_t binOf(std::size_t size) noexcept {
        if (size < smallCount * minAlignment) {
            return size / minAlignment;
        }
        const std::size_t log = floorLog2(size);
        const std::size_t bin =
            smallCount + (log - smallLog) * perDoubling + ((size >> (log - 3)) & (perDoubling - 1));
        return bin < count ? bin : count - 1;
    }

    /// The first bin from `from` that has a block; `count` if there is none. Clears the bits of
    /// empty bins.
    std::size_t nextOccupied(std::size_t from) noexcept {
        std::size_t index = from / wordBits;
        if (index >= words) {
            return count;
        }
        std::uint64_t word = occupied_[index] & (~std::uint64_t{0} << (from % wordBits));
        for (;;) {
            while (word != 0) {
                const auto bit = static_cast<std::size_t>(__builtin_ctzll(word));
                const std::size_t bin = index * wordBits + bit;
                if (!bins_[bin].empty()) [[likely]] {
                    return bin;
                }
                occupied_[index] &= ~(std::uint64_t{1} << bit);
                word &= word - 1;
            }
            if (++index >= words) {
                return count;
            }
            word = occupied_[index];
        }
    }

    Block* bestOf(std::size_t bin, std::size_t size) noexcept {
        RingNode* node = bins_[bin].front();
        if (bin < smallCount) {
            return Block::of(node);
        }
        Block* best = nullptr;
        for (int seen = 0; node != bins_[bin].end() && seen < depth; node = node->next, ++seen) {
            Block* const block = Block::of(node);
            const std::size_t have = block->size();
            if (have >= size && (best == nullptr || have < best->size())) {
                best = block;
                if (have == size) {
                    break;
                }
            }
        }
        return best;
    }

    Ring bins_[count];
    /// A set bit: the bin's ring is initialised, and may be empty.
    std::uint64_t occupied_[words] = {};
};

} // namespace heapwright
