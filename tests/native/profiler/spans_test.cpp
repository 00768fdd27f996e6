// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/spans.hpp"

#include <gtest/gtest.h>

namespace heapwright::profiler {
namespace {

constexpr std::uint64_t start = 0x7f00'0000'3000;

TEST(Spans, TheSlabOfAnyBlockInItIsFound) {
    const Spans spans("/usr/lib/libc.so.6\n/usr/lib/libjemalloc.so.2\n");
    for (const std::uint64_t size : {16U, 48U, 80U, 320U, 1024U, 1280U, 3584U, 8192U, 14336U}) {
        std::uint64_t bytes = size;
        while (bytes % 4096 != 0) {
            bytes += size;
        }
        for (std::uint64_t at = 0; at < bytes; at += size) {
            const Span found = spans.of(start + at, size);
            ASSERT_EQ(found.begin, start) << size << " at " << at;
            ASSERT_EQ(found.end, start + bytes) << size;
        }
    }
    const Span large = spans.of(start + 128, 16384);
    EXPECT_EQ(large.begin, start);
    EXPECT_EQ(large.end, start + 5 * 4096) << "a large block has no slab";
}

TEST(Spans, OthersHavePagesOfTheirOwnSize) {
    const auto bytes = [](std::string_view objects) {
        const Span found = Spans(objects).of(start + 5000, 100);
        return found.end - found.begin;
    };
    EXPECT_EQ(bytes("/usr/lib/libc.so.6\n"), 4096U);
    EXPECT_EQ(bytes("/usr/lib/libtcmalloc_minimal.so.4\n"), 8192U);
    EXPECT_EQ(bytes("/usr/lib/libmimalloc.so.2.0\n"), 65536U);
    const Span empty = Spans().of(start, 0);
    EXPECT_EQ(empty.end - empty.begin, 4096U);
}

} // namespace
} // namespace heapwright::profiler
