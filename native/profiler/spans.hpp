// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The span of a block. An allocator returns a span to the system only as a whole, after all blocks
// in it are free. So one live block pins all of it.
//
// | allocator | span |
// |---|---|
// | jemalloc | small classes: a slab of whole blocks and whole pages, as few as possible |
// | TCMalloc | a page of 8 KiB |
// | mimalloc | a page of 64 KiB |
// | others | pages of the system |
#pragma once

#include <cstdint>
#include <string_view>

namespace heapwright::profiler {

/// Addresses on page boundaries.
struct Span {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

class Spans {
public:
    Spans() = default;

    /// `objects`: the paths of the files that the process had mapped.
    explicit Spans(std::string_view objects) {
        const auto mapped = [objects](std::string_view name) {
            return objects.find(name) != std::string_view::npos;
        };
        slabs_ = mapped("/libjemalloc");
        unit_ = slabs_                   ? page
                : mapped("/libtcmalloc") ? 2 * page
                : mapped("/libmimalloc") ? 16 * page
                                         : page;
    }

    Span of(std::uint64_t address, std::uint64_t usable) const {
        if (slabs_ && usable != 0 && usable <= largestSmall) {
            return slab(address, usable);
        }
        const std::uint64_t last = address + (usable != 0 ? usable - 1 : 0);
        return {address / unit_ * unit_, (last / unit_ + 1) * unit_};
    }

private:
    static constexpr std::uint64_t page = 4096;
    static constexpr std::uint64_t largestSmall = 14 << 10; ///< bytes of a block in a slab

    /// A slab begins on a page and is the least common multiple of a page and its block size. So
    /// exactly one number of blocks before this one leads to a page boundary. It is the offset in
    /// the page times the inverse of the size, both without their common power of two.
    static Span slab(std::uint64_t address, std::uint64_t size) {
        const std::uint64_t lowest = size & (~size + 1);
        const std::uint64_t common = lowest < page ? lowest : page;
        const std::uint64_t blocks = page / common;
        const std::uint64_t odd = size / common;
        std::uint64_t inverse = odd; // right in 3 bits; each step doubles them
        for (int step = 0; step < 3; ++step) {
            inverse *= 2 - odd * inverse;
        }
        const std::uint64_t before = (address % page / common * inverse) & (blocks - 1);
        const std::uint64_t begin = (address - before * size) / page * page;
        return {begin, begin + blocks * size};
    }

    bool slabs_ = false;
    std::uint64_t unit_ = page;
};

} // namespace heapwright::profiler
