// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pages as a kernel allocates them. Buddy blocks of 1 to 1,024 pages come from one of `Nodes`
// memory nodes, grouped by whether the pages can be moved (structure/kernel/page_zone.hpp).
//
// On its first request, a node takes `Least` bytes at once. Memory comes in sections of 16 MiB, in
// which each page has a descriptor (structure/kernel/page_section.hpp). If a node's lists cannot
// serve a request, not even with pages of another mobility, the node takes one more section.
// Without memory for that, the next node serves the request. This shows page fragmentation as on a
// machine with that much memory. Free sections are returned on `trim` and `flush`.
//
// `malloc` takes unmovable pages of the first node. Requests larger than a block return null. Each
// node has a lock, and a fork holds all of them.
// Cost: a lock, and one step for each order between request and block.
// Source: the page allocator of Linux.
//
// Example: KernelPageHeap<1, 16 * MiB, FutexLock, MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/kernel/page_section.hpp>
#include <heapwright/structure/kernel/page_zone.hpp>
#include <heapwright/structure/map/region_map.hpp>
#include <heapwright/structure/thread/fork_holds.hpp>
#include <heapwright/sync/lock.hpp>

#include <array>
#include <cstddef>
#include <new>
#include <string_view>

namespace heapwright {

template <std::size_t Nodes, std::size_t Least, Lock Mutex, AlignedHeap SuperHeap>
    requires ConcurrentHeap<SuperHeap> && AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class KernelPageHeap : private SuperHeap {
    static_assert(Nodes >= 1 && Nodes <= 64);
    static_assert(Least % PageSection::bytes == 0, "`Least` is a multiple of a section");

    using Hold = Guard<Mutex>;

    struct alignas(64) Node {
        Mutex lock;
        PageSection* sections = nullptr;
        PageZone zone;
    };

public:
    static constexpr std::size_t alignment = bytesOfPage;
    static constexpr std::size_t nodes = Nodes;
    static constexpr std::size_t largest = bytesOfPage << (pageOrders - 1);
    static constexpr bool uniform = false; // the superheap receives requests for sections only
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true; ///< the map belongs to the process
    static constexpr bool ownsLockFree = true;
    static constexpr std::string_view caption = "pages in buddies, kept apart by mobility and node";
    using Below = Heaps<SuperHeap>;

    constexpr KernelPageHeap() noexcept = default;
    KernelPageHeap(const KernelPageHeap&) = delete;
    KernelPageHeap& operator=(const KernelPageHeap&) = delete;
    ~KernelPageHeap() { returnAll(); }

    /// A block of an order from a node, or from the next node that has one; null if none has.
    [[nodiscard]] Page* takePages(std::size_t order, Mobility mobility, std::size_t node) noexcept {
        for (std::size_t each = 0; order < pageOrders && each < Nodes; ++each) {
            if (Page* const page = takeFrom((node + each) % Nodes, order, mobility)) {
                return page;
            }
        }
        return nullptr;
    }

    void givePages(Page& block) noexcept {
        Node& node = nodes_[PageSection::of(&block).node];
        const Hold hold(node.lock);
        node.zone.give(block);
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        Page* const page =
            size > largest ? nullptr : takePages(pageOrderFor(size), Mobility::unmovable, 0);
        return page == nullptr ? nullptr : PageSection::addressOfPage(*page);
    }

    /// Blocks are aligned to their size, so a larger block also serves the alignment.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        return malloc(size < align ? align : size);
    }

    void free(void* object) noexcept { givePages(PageSection::pageAt(object)); }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return bytesOfPage << PageSection::pageAt(object).order;
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        return size <= getSize(object) && size > getSize(object) / 2;
    }

    /// The fallback counts of all nodes.
    [[nodiscard]] PageFallbacks fallbacks() noexcept {
        PageFallbacks sum;
        forEachNode([&sum](Node& node) { sum.add(node.zone.fallbacks()); });
        return sum;
    }

    /// Runs `look` on the zone of each node, under its lock.
    template <class Look>
    void forEachZone(Look look) noexcept {
        forEachNode([&look](Node& node) { look(static_cast<const PageZone&>(node.zone)); });
    }

    /// Whether an address lies in a section. Any thread may call it at any time.
    [[nodiscard]] bool owns(const void* object) const noexcept {
        return RegionMap::ownerOf(object) == this;
    }

    bool flush() noexcept { return returnFree(0); }

    bool trim(std::size_t pad) noexcept { return returnFree(pad); }

    /// Pre: no other thread uses the heap.
    void clear() noexcept {
        returnAll();
        if constexpr (ClearableHeap<SuperHeap>) {
            SuperHeap::clear();
        }
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        forEachZone([&usage](const PageZone& zone) {
            usage.held += zone.freePages() * bytesOfPage;
            for (std::size_t order = 0; order < pageOrders; ++order) {
                usage.heldCount += zone.freeBlocks(order);
            }
        });
        SuperHeap::measure(usage);
    }

    /// The fork may come from a signal handler that interrupted a holder of one of the locks. That
    /// lock is left to the interrupted code, in parent and child.
    void beforeFork() noexcept {
        holds_.hold(locks());
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::beforeFork();
        }
    }

    void afterForkInParent() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInParent();
        }
        holds_.letGo(locks(), [](auto& held) { held.lock.unlock(); });
    }

    void afterForkInChild() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInChild();
        }
        holds_.letGo(locks(), [](auto& held) { held.lock.reset(); });
    }

    /// Always false, because `beforeFork` takes only the locks that this thread does not hold yet.
    [[nodiscard]] static bool heldByThisThread() noexcept { return false; }

private:
    /// A lock with the interface of a heap that is held over a fork.
    struct Held {
        Mutex& lock;
        [[nodiscard]] bool heldByThisThread() const noexcept { return lock.heldByThisThread(); }
        void beforeFork() noexcept { lock.lock(); }
    };
    [[nodiscard]] auto locks() noexcept {
        return [this](std::size_t index, auto body) {
            Held held{nodes_[index].lock};
            body(held);
        };
    }

    [[nodiscard]] Page* takeFrom(std::size_t index, std::size_t order, Mobility mobility) noexcept {
        Node& node = nodes_[index];
        const Hold hold(node.lock);
        if (node.sections == nullptr) [[unlikely]] {
            for (std::size_t bytes = PageSection::bytes; bytes < Least;
                 bytes += PageSection::bytes) {
                if (!grow(node, index)) {
                    break;
                }
            }
        } else if (Page* const page = node.zone.take(order, mobility)) {
            return page;
        }
        return grow(node, index) ? node.zone.take(order, mobility) : nullptr;
    }

    [[nodiscard]] bool grow(Node& node, std::size_t index) noexcept {
        void* const memory = SuperHeap::memalign(PageSection::bytes, PageSection::bytes);
        if (memory == nullptr) {
            return false;
        }
        if (!RegionMap::enter(memory, PageSection::bytes, this)) {
            SuperHeap::free(memory);
            return false;
        }
        auto* const section = ::new (memory) PageSection;
        section->node = index;
        section->next = node.sections;
        if (node.sections != nullptr) {
            node.sections->previous = section;
        }
        node.sections = section;
        node.zone.add(*section);
        return true;
    }

    void giveBack(Node& node, PageSection& section) noexcept {
        (section.previous != nullptr ? section.previous->next : node.sections) = section.next;
        if (section.next != nullptr) {
            section.next->previous = section.previous;
        }
        RegionMap::leave(&section, PageSection::bytes);
        SuperHeap::free(&section);
    }

    /// Returns free sections except for `pad` bytes; true if there were any.
    bool returnFree(std::size_t pad) noexcept {
        bool any = false;
        forEachNode([&](Node& node) {
            PageSection* next = nullptr;
            for (PageSection* section = node.sections; section != nullptr; section = next) {
                next = section->next;
                if (section->freePages < PageSection::usablePages()) {
                    continue;
                }
                if (pad >= PageSection::bytes) {
                    pad -= PageSection::bytes;
                    continue;
                }
                node.zone.remove(*section);
                giveBack(node, *section);
                any = true;
            }
        });
        if constexpr (TrimmableHeap<SuperHeap>) {
            return SuperHeap::trim(pad) || any;
        } else {
            return any;
        }
    }

    void returnAll() noexcept {
        for (Node& node : nodes_) {
            while (node.sections != nullptr) {
                giveBack(node, *node.sections);
            }
            node.zone = PageZone{};
        }
    }

    template <class Body>
    void forEachNode(Body body) noexcept {
        for (Node& node : nodes_) {
            const Hold hold(node.lock);
            body(node);
        }
    }

    std::array<Node, Nodes> nodes_;
    ForkHolds<Nodes> holds_;
};

} // namespace heapwright
