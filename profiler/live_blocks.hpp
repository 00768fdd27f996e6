// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The blocks that are live at one moment of the trace, by address: an open table with linear
// probing, at most half full, from which what ends is really removed, so that its size is
// that of the most blocks that were live at a time. 40 bytes a place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwright::profile {

/// A live block. Address 0 marks an empty place: no block stands there.
struct Block {
    std::uint64_t address = 0;
    std::uint64_t born = 0; ///< ns: when its allocation returned
    std::uint64_t size = 0; ///< as requested
    std::uint64_t operation : 40 = 0;
    std::uint64_t thread : 24 = 0;
    std::uint32_t slack = 0; ///< what the allocator gave beyond the request
    std::uint32_t site = 0;
};
static_assert(sizeof(Block) == 40);

class LiveBlocks {
public:
    LiveBlocks() : places_(smallest) {}

    std::size_t count() const { return count_; }

    /// The live block at `address`, or null. Valid until the next insertion or removal.
    Block* find(std::uint64_t address) {
        for (std::size_t at = home(address);; at = next(at)) {
            Block& place = places_[at];
            if (place.address == address)
                return &place;
            if (place.address == 0)
                return nullptr;
        }
    }

    /// Adds a block whose address is not live.
    void insert(const Block& block) {
        if (2 * (count_ + 1) > places_.size())
            grow();
        place(block);
        ++count_;
    }

    /// Removes what `find` gave, and moves up what stood further on for its sake.
    void remove(Block* block) {
        auto hole = static_cast<std::size_t>(block - places_.data());
        for (std::size_t at = next(hole); places_[at].address != 0; at = next(at)) {
            const std::size_t distance = (at - home(places_[at].address)) & mask();
            if (distance >= ((at - hole) & mask())) {
                places_[hole] = places_[at];
                hole = at;
            }
        }
        places_[hole].address = 0;
        --count_;
    }

    /// Lets the processor fetch where `address` would stand.
    void prefetch(std::uint64_t address) const { __builtin_prefetch(&places_[home(address)], 1); }

    template <typename Visitor>
    void forEach(Visitor visit) const {
        for (const Block& block : places_)
            if (block.address != 0)
                visit(block);
    }

private:
    static constexpr std::size_t smallest = 64;

    std::size_t mask() const { return places_.size() - 1; }
    std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
    std::size_t home(std::uint64_t address) const {
        return static_cast<std::size_t>((address * 0x9E37'79B9'7F4A'7C15U) >> shift_);
    }

    void place(const Block& block) {
        std::size_t at = home(block.address);
        while (places_[at].address != 0)
            at = next(at);
        places_[at] = block;
    }

    void grow() {
        std::vector<Block> old(2 * places_.size());
        old.swap(places_);
        --shift_;
        for (const Block& block : old)
            if (block.address != 0)
                place(block);
    }

    std::vector<Block> places_;
    unsigned shift_ = 64 - 6; ///< 64 minus the logarithm of the number of places
    std::size_t count_ = 0;
};

} // namespace heapwright::profile
