// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The caches of a kernel heap as text, in the format of /proc/slabinfo (version 2.1), so that tools
// for the kernel's file can read it. Live objects are those in use. Objects in arrays and queues
// count as free. Objects on their way between processors are in the last column. A column that a
// design does not have is 0.
//
// It needs no memory. Each finished line is passed on under the locks of the heap.
// Pre: the function that writes a line does not use that heap.
#pragma once

#include <heapwright/structure/kernel/kernel_cache.hpp>
#include <heapwright/structure/observe/fixed_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

class SlabInfoLine {
public:
    static constexpr std::string_view title =
        "slabinfo - version: 2.1\n"
        "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>"
        " : tunables <limit> <batchcount> <sharedfactor>"
        " : slabdata <active_slabs> <num_slabs> <sharedavail>\n";

    explicit SlabInfoLine(const CacheFigures& cache) noexcept {
        constexpr std::size_t nameWidth = 17;
        const std::string_view name = cache.name;
        text_.put(name.substr(0, mostOfName));
        pad(name.size(), nameWidth);
        put(cache.live, 6).put(cache.objects, 6).put(cache.stride, 6);
        put(cache.objectsPerSlab, 4).put(cache.pagesPerSlab, 4);
        text_.put(" : tunables");
        put(cache.limit, 4).put(cache.batch, 4).put(cache.shared, 4);
        text_.put(" : slabdata");
        put(cache.slabs, 6).put(cache.slabs, 6).put(cache.waiting, 6);
        text_.put('\n');
    }

    [[nodiscard]] std::string_view view() const noexcept { return text_.view(); }

private:
    static constexpr std::size_t mostOfName = 64;

    void pad(std::size_t length, std::size_t width) noexcept {
        for (; length < width; ++length) {
            text_.put(' ');
        }
    }

    /// Adds a blank and a number, right-aligned to a width.
    SlabInfoLine& put(std::uint64_t number, std::size_t width) noexcept {
        FixedText<20> digits;
        digits.putNumber(number);
        text_.put(' ');
        pad(digits.view().size(), width);
        text_.put(digits.view());
        return *this;
    }

    FixedText<320> text_;
};

/// Runs `write` on the title, and on the line of each cache that `forEachCache` visits.
template <class H, class Write>
void writeSlabInfo(H& heap, Write write) {
    write(SlabInfoLine::title);
    heap.forEachCache([&write](const CacheFigures& cache) { write(SlabInfoLine(cache).view()); });
}

} // namespace heapwright
