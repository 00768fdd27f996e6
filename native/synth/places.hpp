// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Invents addresses: no two live blocks overlap, and what was let go serves again, the last first,
// among blocks of about its size (four classes for each doubling). So addresses stay within a
// fifth more than the most memory that each class had at once, however long the trace is. It is no
// model of any allocator.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace heapwright::synth {

class Places {
public:
    static constexpr std::uint64_t maxSize = std::uint64_t{1} << 46U;

    /// A block for `size` bytes, at most maxSize, on a multiple of `alignment`, a power of two.
    std::uint64_t take(std::uint64_t size, std::uint64_t alignment = 0) {
        auto& waiting = waiting_[classOf(size)];
        if (alignment <= grain && !waiting.empty()) {
            const std::uint64_t address = waiting.back();
            waiting.pop_back();
            return address;
        }
        if (alignment > grain)
            next_ = (next_ + alignment - 1) & ~(alignment - 1);
        const std::uint64_t address = next_;
        next_ += bytesOf(classOf(size));
        return address;
    }

    /// `size` is what the block was taken for.
    void giveBack(std::uint64_t address, std::uint64_t size) {
        waiting_[classOf(size)].push_back(address);
    }

    /// What an allocator with these classes would say may be used of the block.
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

    std::array<std::vector<std::uint64_t>, classes> waiting_;
    std::uint64_t next_ = std::uint64_t{1} << 32U;
};

} // namespace heapwright::synth
