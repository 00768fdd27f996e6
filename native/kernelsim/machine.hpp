// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A simulated machine: memory of a stated size in pages, and up to eight processors, one of which
// is active at a time. One thread runs it, so there are no locks, and time measures the path
// length.
//
// The object allocator on it takes its pages from `MachinePages`, so that they are distinguished
// from other pages. All memory is present at the start, free and movable. Without free memory, a
// request returns null. A thread has at most one machine.
#pragma once

#include "kernelsim/observer.hpp"
#include "kernelsim/traffic.hpp"

#include <heapwright/layers/carve/kernel_page_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/structure/kernel/kernel_caches.hpp>
#include <heapwright/structure/kernel/page_section.hpp>
#include <heapwright/structure/thread/heap_selector.hpp>
#include <heapwright/sync/lock.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace heapwright::kernelsim {

/// A lock without contention, which an observed build counts.
class NoLock {
public:
    void lock() noexcept {
        held_ = true;
        if constexpr (observed)
            observer::tookLock(this);
    }
    [[nodiscard]] bool tryLock() noexcept {
        const bool free = !held_;
        if (free)
            lock();
        return free;
    }
    void unlock() noexcept {
        held_ = false;
        if constexpr (observed)
            observer::releasedLock(this);
    }
    void reset() noexcept { held_ = false; }
    [[nodiscard]] bool heldByThisThread() const noexcept { return held_; }

private:
    bool held_ = false;
};

static_assert(Lock<NoLock>);

/// The active processor of the machine.
struct MachineProcessors {
    static constexpr std::size_t count = mostProcessors;
    /// A kernel has the data of a processor in memory of its own.
    static constexpr std::size_t apart = 64;

    [[nodiscard]] static std::size_t mine() noexcept { return now; }
    [[nodiscard]] static std::size_t present() noexcept { return all; }

    static inline thread_local std::size_t now = 0;
    static inline thread_local std::size_t all = 1;
};

static_assert(HeapSelector<MachineProcessors>);

/// Mapped memory of a limited size.
class MachineMemory : private MmapHeap {
public:
    static constexpr std::size_t alignment = MmapHeap::alignment;
    static constexpr bool concurrent = true; // one thread, one machine
    using Below = Heaps<MmapHeap>;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return memalign(alignment, size); }
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        if (size > left) {
            return nullptr;
        }
        void* const memory = MmapHeap::memalign(align, size);
        left -= memory != nullptr ? size : 0;
        return memory;
    }
    using MmapHeap::free;

    static inline thread_local std::size_t left = 0; ///< bytes
};

class Machine {
public:
    using Pages = KernelPageHeap<1, PageSection::bytes, NoLock, MachineMemory>;

    /// Creates memory of at least `mebibytes`, of which `free` pages are usable (0: all). The rest
    /// is allocated for good. Throws std::runtime_error if the system does not have that much.
    Machine(std::uint64_t mebibytes, std::uint64_t free, std::size_t processors) {
        if constexpr (observed)
            observer::reset();
        constexpr std::size_t section = PageSection::bytes;
        std::size_t sections = (mebibytes * MiB + section - 1) / section;
        sections = std::max(sections,
                            (free + PageSection::usablePages() - 1) / PageSection::usablePages());
        MachineMemory::left = sections * section;
        MachineProcessors::now = 0;
        MachineProcessors::all = processors;
        std::vector<Page*> taken;
        while (Page* const page = pages_.takePages(pageOrders - 1, Mobility::movable, 0)) {
            taken.push_back(page);
            if constexpr (observed)
                watchSection(*page);
        }
        if (MachineMemory::left != 0) {
            throw std::runtime_error("the system has no memory for the simulated machine");
        }
        for (Page* const page : taken) {
            pages_.givePages(*page);
        }
        usable_ = sections * PageSection::usablePages();
        if (free != 0) {
            takeForGood(usable_ - free);
        }
        if constexpr (observed)
            observer::watch(&pages_, sizeof(pages_));
        here = this;
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    ~Machine() { here = nullptr; }

    // --- pages of the object allocator ---

    [[nodiscard]] Page* takeSlab(std::size_t order, Mobility mobility) noexcept {
        Page* const page = pages_.takePages(order, mobility, 0);
        if (page != nullptr) {
            slabPages_ += std::size_t{1} << order;
            mostSlabPages_ = std::max(mostSlabPages_, slabPages_);
            ++slabsTaken_;
        }
        return page;
    }
    void giveSlab(Page& page) noexcept {
        slabPages_ -= std::size_t{1} << page.order;
        ++slabsGiven_;
        pages_.givePages(page);
    }

    // --- pages of other users ---

    [[nodiscard]] Page* take(std::size_t order, Mobility mobility) noexcept {
        Page* const page = pages_.takePages(order, mobility, 0);
        otherPages_ += page != nullptr ? std::size_t{1} << order : 0;
        return page;
    }
    void give(Page& page) noexcept {
        otherPages_ -= std::size_t{1} << page.order;
        pages_.givePages(page);
    }

    [[nodiscard]] std::size_t usablePages() const noexcept { return usable_; }
    [[nodiscard]] std::size_t slabPages() const noexcept { return slabPages_; }
    [[nodiscard]] std::size_t mostSlabPages() const noexcept { return mostSlabPages_; }
    [[nodiscard]] std::size_t otherPages() const noexcept { return otherPages_; }
    [[nodiscard]] std::size_t freePages() const noexcept {
        return usable_ - slabPages_ - otherPages_;
    }
    [[nodiscard]] std::uint64_t slabsTaken() const noexcept { return slabsTaken_; }
    [[nodiscard]] std::uint64_t slabsGiven() const noexcept { return slabsGiven_; }
    [[nodiscard]] bool owns(const void* address) const noexcept { return pages_.owns(address); }
    [[nodiscard]] Pages& pages() noexcept { return pages_; }

    static inline thread_local Machine* here = nullptr;

private:
    void watchSection(const Page& page) {
        const PageSection* const section = &PageSection::of(&page);
        if (section != watched_)
            observer::watch(section, PageSection::bytes);
        watched_ = section;
    }

    /// In blocks as large as possible, and movable, so that it causes no fallback.
    void takeForGood(std::size_t count) noexcept {
        usable_ -= count;
        for (std::size_t order = pageOrders; order-- > 0;) {
            const std::size_t size = std::size_t{1} << order;
            while (count >= size && pages_.takePages(order, Mobility::movable, 0) != nullptr) {
                count -= size;
            }
        }
    }

    Pages pages_;
    const PageSection* watched_ = nullptr; ///< the last of them
    std::size_t usable_ = 0;
    std::size_t slabPages_ = 0;
    std::size_t mostSlabPages_ = 0;
    std::size_t otherPages_ = 0;
    std::uint64_t slabsTaken_ = 0;
    std::uint64_t slabsGiven_ = 0;
};

/// The machine's pages as a heap, below the object allocators.
/// Pre: there is a machine.
class MachinePages {
public:
    static constexpr std::size_t alignment = bytesOfPage;
    static constexpr std::size_t largest = Machine::Pages::largest;
    static constexpr std::size_t nodes = 1;
    static constexpr bool uniform = false;
    static constexpr bool concurrent = true; // one thread, one machine
    static constexpr bool processLocal = true;
    using Below = Heaps<>;

    [[nodiscard]] Page* takePages(std::size_t order, Mobility mobility,
                                  std::size_t /*node*/) noexcept {
        return Machine::here->takeSlab(order, mobility);
    }
    void givePages(Page& page) noexcept { Machine::here->giveSlab(page); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        Page* const page =
            size > largest ? nullptr : takePages(pageOrderFor(size), Mobility::unmovable, 0);
        return page == nullptr ? nullptr : PageSection::addressOfPage(*page);
    }
    void free(void* object) noexcept { givePages(PageSection::pageAt(object)); }
    [[nodiscard]] bool owns(const void* object) const noexcept {
        return Machine::here->owns(object);
    }

    void beforeFork() noexcept {}
    void afterForkInParent() noexcept {}
    void afterForkInChild() noexcept {}
};

static_assert(PagedHeap<MachinePages>);

} // namespace heapwright::kernelsim
