// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The GNU C library's functions that report on the heap (mallinfo, malloc_info and others), from
// the usage that every composition can measure. In the C library's terms, the "arena" is memory
// taken from the system for many objects, and "mmap" is memory of single large ones. "ordblks" and
// "fordblks" are free blocks and bytes in the arena. Figures that a composition does not keep are 0
// in the structures and omitted in texts. They are the greatest size so far, and the part that
// could be trimmed.
//
// Invariant: the heap is measured before anything is printed, because printing allocates.
// Cost: that of the heap's `measure`.
#pragma once

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <malloc.h>

#include <heapwright/core/introspection.hpp>

#include <preload/instance.hpp>

namespace heapwright::preload {

/// mallopt: accepts the C library's options without effect, because a composition is configured by
/// its layers. Refuses other numbers.
inline int setOption(int parameter, int /*value*/) {
    const bool classic = parameter >= M_MXFAST && parameter <= M_KEEP;
    const bool later = parameter >= M_ARENA_MAX && parameter <= M_TRIM_THRESHOLD;
    return classic || later ? 1 : 0;
}

template <class Allocator>
struct GlibcInfo {
    [[gnu::cold]] static struct mallinfo2 info() {
        const MemoryUsage now = measured();
        struct mallinfo2 result = {};
        result.arena = now.mapped - now.direct;
        result.ordblks = now.heldCount;
        result.hblks = now.directCount;
        result.hblkhd = now.direct;
        result.uordblks = result.arena - now.held;
        result.fordblks = now.held;
        return result;
    }

    /// As `info`, in ints. A larger number becomes INT_MAX.
    [[gnu::cold]] static struct mallinfo oldInfo() {
        const struct mallinfo2 wide = info();
        struct mallinfo result = {};
        result.arena = narrow(wide.arena);
        result.ordblks = narrow(wide.ordblks);
        result.hblks = narrow(wide.hblks);
        result.hblkhd = narrow(wide.hblkhd);
        result.uordblks = narrow(wide.uordblks);
        result.fordblks = narrow(wide.fordblks);
        return result;
    }

    /// malloc_info: the C library's XML, with one heap.
    [[gnu::cold]] static int xml(int options, std::FILE* stream) {
        if (options != 0) {
            return EINVAL;
        }
        const struct mallinfo2 now = info();
        std::fputs("<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n</sizes>\n", stream);
        printTotals(stream, now);
        std::fputs("</heap>\n", stream);
        printTotals(stream, now);
        std::fputs("</malloc>\n", stream);
        return 0;
    }

    /// malloc_stats: the C library's lines, on stderr.
    [[gnu::cold]] static void printStats() {
        const struct mallinfo2 now = info();
        std::fprintf(stderr, "Arena 0:\n");
        printUse(now.arena, now.uordblks);
        std::fprintf(stderr, "Total (incl. mmap):\n");
        printUse(now.arena + now.hblkhd, now.uordblks + now.hblkhd);
    }

private:
    [[gnu::cold]] static MemoryUsage measured() {
        MemoryUsage usage;
        instance<Allocator>().measure(usage);
        return usage;
    }

    static int narrow(std::size_t value) {
        return value > INT_MAX ? INT_MAX : static_cast<int>(value);
    }

    [[gnu::cold]] static void printTotals(std::FILE* stream, const struct mallinfo2& now) {
        std::fprintf(stream,
                     "<total type=\"fast\" count=\"0\" size=\"0\"/>\n"
                     "<total type=\"rest\" count=\"%zu\" size=\"%zu\"/>\n"
                     "<total type=\"mmap\" count=\"%zu\" size=\"%zu\"/>\n"
                     "<system type=\"current\" size=\"%zu\"/>\n",
                     now.ordblks, now.fordblks, now.hblks, now.hblkhd, now.arena);
    }

    [[gnu::cold]] static void printUse(std::size_t system, std::size_t used) {
        std::fprintf(stderr, "system bytes     = %10zu\nin use bytes     = %10zu\n", system, used);
    }
};

} // namespace heapwright::preload
