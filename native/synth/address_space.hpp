// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Assigns addresses to blocks, such that live blocks never overlap. A released range is reused, the
// last first, for blocks of its size class. There are four classes for each doubling.
// Cost: the addresses used exceed the sum of each class's peak by at most a fifth.
// This is not a model of any allocator.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace heapwright::synth {

class AddressSpace {
public:
    static constexpr std::uint64_t maxSize = std::uint64_t{1} << 46U;

    /// A range for `size` bytes. Pre: `size` is at most maxSize, and `alignment` is 0 or a power
    /// of 2.
    std::uint64_t take(std::uint64_t size, std::uint64_t alignment = 0) {
        auto& ranges = released_[classOf(size)];
        if (alignment <= grain && !ranges.empty()) {
            const std::uint64_t address = ranges.back();
            ranges.pop_back();
            return address;
        }
        if (alignment > grain)
            next_ = (next_ + alignment - 1) & ~(alignment - 1);
        const std::uint64_t address = next_;
        next_ += bytesOf(classOf(size));
        return address;
    }

    /// Pre: `size` is the size that was passed to `take`.
    void release(std::uint64_t address, std::uint64_t size) {
        released_[classOf(size)].push_back(address);
    }

    /// The usable size that an allocator with these classes would report.
    static std::uint64_t usable(std::uint64_t size) { return bytesOf(classOf(size)); }

private:
    static constexpr std::uint64_t grain = 16;
    static constexpr unsigned classes = 4 * 64;

    static unsigned classOf(std::uint64_t size) {
        const std::uint64_t grains = size <= grain ? 1 : (size + grain - 1) / grain;
        if (grains <= 4)
            return static_cast<unsigned>(grains - 1);
        const auto width = static_cast<unsigned>(std::bit_width(grains - 1));
        return 4 * (width - 2) + static_cast<unsigned>(((grains - 1) >> (width - 3)) & 3U);
    }

    static std::uint64_t bytesOf(unsigned number) {
        if (number < 4)
            return (number + 1) * grain;
        const unsigned width = number / 4 + 2;
        return ((std::uint64_t{4} + number % 4 + 1) << (width - 3)) * grain;
    }

    std::array<std::vector<std::uint64_t>, classes> released_;
    std::uint64_t next_ = std::uint64_t{1} << 32U;
};

} // namespace heapwright::synth
