// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The base of tests of the kernel's heaps and of their parts. It has processors that the test
// chooses, pages of two memory nodes that are counted, and objects that know whether they were
// constructed.
#pragma once

#include <heapwright/layers/carve/kernel_page_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/structure/kernel/kernel_cache.hpp>
#include <heapwright/structure/thread/processor_selector.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright::testing {

using KernelPages = KernelPageHeap<1, 16 * MiB, FutexLock, MmapHeap>;
using FourProcessors = SimulatedProcessors<4>;

/// Pages of two nodes. It has the number of returned blocks, and refuses if the test requires it.
class CountedPages {
public:
    Page* takePages(std::size_t order, Mobility mobility, std::size_t node) noexcept {
        if (refuses) {
            return nullptr;
        }
        ++taken;
        return heap_.takePages(order, mobility, node);
    }
    void givePages(Page& page) noexcept {
        ++given;
        heap_.givePages(page);
    }

    std::size_t taken = 0;
    std::size_t given = 0;
    bool refuses = false;

private:
    KernelPageHeap<2, 16 * MiB, FutexLock, MmapHeap> heap_;
};

/// An object that knows whether it has been constructed, with a use that must not be lost.
struct Constructed {
    static inline std::size_t constructed = 0;
    static inline std::size_t destroyed = 0;
    static constexpr std::uint64_t mark = 0xC0DE'0DE1'1BE5'A11E;

    std::uint64_t word;
    std::uint64_t uses;

    static void construct(void* memory) {
        ::new (memory) Constructed{mark, 0};
        ++constructed;
    }
    static void destroy(void* memory) {
        static_cast<Constructed*>(memory)->word = 0;
        ++destroyed;
    }
    static CacheTraits traits(std::size_t size) {
        constructed = destroyed = 0;
        return {"constructed", size, minAlignment, &construct, &destroy};
    }
};

} // namespace heapwright::testing
