// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Hoard with other parameters than `include/heapwright/allocators/hoard.hpp`: one heap with
// variable policies, and the variants of this folder's experiments (variants.py builds each into a
// library).
//
// Each library records the maximum of bytes in superblocks. It writes it at the end of the process
// to the file that the variable HEAPWRIGHT_TAKEN names. This is the A of the published A/U. This
// adds only a compare to a request.
#pragma once

#include <heapwright/heap.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace heapwright::variants {

/// Bytes of superblocks, now and at the maximum; at that time, the bytes of all slots in them and
/// of live ones.
inline std::atomic<std::size_t> takenNow{0};
inline std::atomic<std::size_t> mostTaken{0};
inline std::atomic<std::size_t> slotsThen{0};
inline std::atomic<std::size_t> liveThen{0};

[[gnu::destructor, gnu::used]] static void report() {
    const char* path = std::getenv("HEAPWRIGHT_TAKEN");
    std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file != nullptr) {
        std::fprintf(file, "{\"superblocks\": %zu, \"slots\": %zu, \"live\": %zu}\n",
                     mostTaken.load(), slotsThen.load(), liveThen.load());
        std::fclose(file);
    }
}

/// Counts the superblocks in use. Blocks for other purposes (the heaps themselves) have a smaller
/// requested size.
template <BlockHeap SuperHeap>
class CountedBlocks : public SuperHeap {
public:
    using Below = Heaps<SuperHeap>;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const block = SuperHeap::malloc(size);
        if (block != nullptr && size == SuperHeap::blockSize) {
            takenNow += SuperHeap::blockSize;
        }
        return block;
    }
    void free(void* block) noexcept {
        takenNow -= SuperHeap::blockSize;
        SuperHeap::free(block);
    }
};

/// Measures the held memory whenever the number of superblocks reaches a new maximum.
template <class Slots, class SuperHeap>
class Watched : public SuperHeap {
public:
    using Below = Heaps<SuperHeap>;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return seen(SuperHeap::malloc(size)); }
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        return seen(SuperHeap::memalign(align, size));
    }

private:
    void* seen(void* object) noexcept {
        std::size_t most = mostTaken.load(std::memory_order_relaxed);
        const std::size_t now = takenNow.load(std::memory_order_relaxed);
        if (now > most && mostTaken.compare_exchange_strong(most, now)) [[unlikely]] {
            lookAtSlots();
        }
        return object;
    }

    [[gnu::noinline, gnu::cold]] void lookAtSlots() noexcept {
        std::size_t slots = 0;
        std::size_t live = 0;
        for (std::size_t at = 0; at < Slots::count; ++at) {
            // Other threads may use the heap, so the figures may be slightly outdated.
            const auto figures = SuperHeap::figuresOf(at);
            slots += (figures.held + figures.heldGlobal) * Slots::sizeOf(at);
            live += figures.used * Slots::sizeOf(at);
        }
        slotsThen = slots;
        liveThen = live;
    }
};

using Blocks = CountedBlocks<AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>>;
using Classes = GeometricSlots<6, 5, 16, 4 * KiB>; // those of the catalogue
using SmallToo = GeometricSlots<6, 5, 8, 4 * KiB>; // requests of 8 bytes in slots of 8

template <class Slots, class Assigned, class Rule, class Lines>
using Variant = ANSIWrapper<SignalSafeHeap<
    SplitHeap<4 * KiB, Watched<Slots, HoardHeap<Slots, Assigned, Rule, Lines, Blocks>>,
              CheckedHeap<MmapHeap>>>>;

// The empty fraction: 1/8, 1/4, 1/2.
using Eighth = Variant<Classes, PerProcessor<128>, Emptiness<1, 8, 4>, AnyLines>;
using Quarter = Variant<Classes, PerProcessor<128>, Emptiness<1, 4, 4>, AnyLines>;
using Half = Variant<Classes, PerProcessor<128>, Emptiness<1, 2, 4>, AnyLines>;

// As measured in 2002: 14 processors, so 28 heaps; 8-byte granules where the ABI allows them.
using Published = Variant<SmallToo, ByThread<28>, Emptiness<1, 4, 4>, AnyLines>;
// The same with three changes, each alone. A thread that follows an ended one gets its heap. One
// superblock's worth is kept for each heap and class. There is one heap only, which shows the
// memory that is not due to threads.
using FollowOn = Variant<SmallToo, OwnHeap<28>, Emptiness<1, 4, 4>, AnyLines>;
using KeepsOne = Variant<SmallToo, ByThread<28>, Emptiness<1, 4, 1>, AnyLines>;
using OneHeap = Variant<SmallToo, ByThread<1>, Emptiness<1, 4, 4>, AnyLines>;

// hoard-clean of the catalogue, and each half of it alone. One half is a heap for each live thread.
// The other is no allocation from partly used lines of transferred superblocks.
using Clean = Variant<Classes, OwnHeap<128>, Emptiness<1, 4, 4>, CleanLines>;
using OwnOnly = Variant<Classes, OwnHeap<128>, Emptiness<1, 4, 4>, AnyLines>;
using CleanHashed = Variant<Classes, PerProcessor<128>, Emptiness<1, 4, 4>, CleanLines>;

} // namespace heapwright::variants
