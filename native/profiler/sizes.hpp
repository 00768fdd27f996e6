// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The number of requests of each size, and the number of its live blocks. Memory is that of the
// distinct sizes. Small ones are in a table by size, and larger ones are hashed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/json.hpp"

namespace heapwright::profiler {

struct SizeCount {
    std::uint64_t allocations = 0;
    std::uint64_t live = 0;
};

/// A size with its counts.
struct CountedSize {
    std::uint64_t size = 0;
    SizeCount count;
};

class Sizes {
public:
    Sizes() : small_(smallSizes), large_(256) {}

    void allocated(std::uint64_t size) {
        SizeCount& count = of(size);
        ++count.allocations;
        ++count.live;
    }
    void ended(std::uint64_t size) { --of(size).live; }
    /// A live block changed its size without a new allocation.
    void resized(std::uint64_t from, std::uint64_t to) {
        --of(from).live;
        ++of(to).live;
    }
    SizeCount& of(std::uint64_t size) {
        return size < smallSizes ? small_[static_cast<std::size_t>(size)] : large(size);
    }
    /// The same, for callers with many calls at a time. `small` is the result of `small()`.
    SizeCount* small() { return small_.data(); }
    SizeCount& of(SizeCount* small, std::uint64_t size) {
        return size < smallSizes ? small[size] : large(size);
    }
    SizeCount look(std::uint64_t size) const;

    /// All requested sizes, the commonest first, the smaller first among equals.
    std::vector<CountedSize> commonest(std::size_t most) const;
    /// The same by size.
    std::vector<CountedSize> bySize() const;

    /// The fields of `sizes` but for what runs over time.
    void write(Json& json, std::uint64_t allocations) const;

private:
    static constexpr std::size_t smallSizes = 4096;

    [[gnu::noinline]] SizeCount& large(std::uint64_t size) {
        const std::size_t at = placeOf(size);
        return large_[at].size == size ? large_[at].count : add(size);
    }
    std::size_t placeOf(std::uint64_t size) const {
        const std::size_t mask = large_.size() - 1;
        auto at = static_cast<std::size_t>((size * 0x9E37'79B9'7F4A'7C15U) >> 24) & mask;
        while (large_[at].size != size && large_[at].size != 0)
            at = (at + 1) & mask;
        return at;
    }
    SizeCount& add(std::uint64_t size);

    std::vector<SizeCount> small_;
    std::vector<CountedSize> large_; ///< open, at most half full; size 0 marks an empty place
    std::size_t larges_ = 0;
};

} // namespace heapwright::profiler
