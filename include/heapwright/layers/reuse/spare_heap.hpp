// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps large freed objects, up to `Bytes` in all, for later requests of their size: the chunks
// that many short-lived heaps take and free. The last in is the first out, so that it is still in
// the processor's cache. Its pages are already mapped.
//
// Objects below a KiB, or larger than a quarter of `Bytes`, go below at once. A waiting object
// serves requests of at most its size and more than half of it. Several threads may use it. A
// thread that finds the lock taken does not wait but asks below, so a fork may come at any time.
// Under AddressSanitizer all objects go below.
// Invariant: the first word of a waiting object is the link.
// Cost: an attempt at a lock, and a few loads.
//
// Example: SpareHeap<FutexLock, 4 * MiB, MallocHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/poison.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/sync/lock.hpp>

#include <cstddef>
#include <new>
#include <string_view>

namespace heapwright {

template <Lock Mutex, std::size_t Bytes, SizedHeap SuperHeap>
    requires ConcurrentHeap<SuperHeap> && AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class SpareHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    struct Node {
        Node* next;
    };

    static constexpr std::size_t least = 1 * KiB;
    static constexpr std::size_t most = platform::poisons ? 0 : Bytes / 4;
    static constexpr std::size_t leastLog = floorLog2(least);
    static constexpr std::size_t bins = floorLog2(Bytes) - leastLog + 1;
    static constexpr int depth = 4; ///< number of objects of a bin that a search visits

    static_assert(Bytes >= 4 * least);

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = !InterProcessLock<Mutex>;
    static constexpr std::string_view caption =
        "keeps freed chunks, up to a sum, for the next requests";
    using Below = Heaps<SuperHeap>;

    constexpr SpareHeap() noexcept = default;
    SpareHeap(const SpareHeap&) = delete;
    SpareHeap& operator=(const SpareHeap&) = delete;
    ~SpareHeap() { flush(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const object = mallocHeld(size);
        return object != nullptr ? object : SuperHeap::malloc(size);
    }

    /// A waiting object, if the lock is free; else null.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        if (size < least || size > most || !lock_.tryLock()) {
            return nullptr;
        }
        void* const object = takeFit(size);
        lock_.unlock();
        return object;
    }

    void free(void* object) noexcept {
        const std::size_t size = SuperHeap::getSize(object);
        if (size >= least && size <= most && lock_.tryLock()) {
            const bool kept = waiting_ + size <= Bytes;
            if (kept) {
                Node*& bin = bins_[floorLog2(size) - leastLog];
                bin = ::new (object) Node{bin};
                waiting_ += size;
            }
            lock_.unlock();
            if (kept) {
                return;
            }
        }
        SuperHeap::free(object);
    }

    /// Frees all waiting objects to the superheap and flushes that; true if there were any.
    bool flush() noexcept {
        const bool any = passDown();
        if constexpr (FlushableHeap<SuperHeap>) {
            return SuperHeap::flush() || any;
        } else {
            return any;
        }
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        passDown();
        return SuperHeap::trim(pad);
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        passDown();
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        const Guard<Mutex> hold(lock_);
        usage.held += waiting_;
        for (const Node* const bin : bins_) {
            for (const Node* node = bin; node != nullptr; node = node->next) {
                ++usage.heldCount;
            }
        }
    }

    void beforeFork() noexcept
        requires ForkableHeap<SuperHeap>
    {
        lock_.lock();
        SuperHeap::beforeFork();
    }
    void afterForkInParent() noexcept
        requires ForkableHeap<SuperHeap>
    {
        SuperHeap::afterForkInParent();
        lock_.unlock();
    }
    void afterForkInChild() noexcept
        requires ForkableHeap<SuperHeap>
    {
        SuperHeap::afterForkInChild();
        lock_.reset();
    }

    using Forwards::getSize;
    using Forwards::memalign;
    using Forwards::owns;
    using Forwards::relocate;
    using Forwards::resize;
    using Forwards::zalloc;

private:
    void* takeFit(std::size_t size) noexcept {
        Node** link = &bins_[floorLog2(size) - leastLog];
        for (int seen = 0; *link != nullptr && seen < depth; ++seen, link = &(*link)->next) {
            Node* const node = *link;
            const std::size_t have = SuperHeap::getSize(node);
            if (have >= size) {
                *link = node->next;
                waiting_ -= have;
                return node;
            }
        }
        return nullptr;
    }

    bool passDown() noexcept {
        const Guard<Mutex> hold(lock_);
        for (Node*& bin : bins_) {
            while (bin != nullptr) {
                Node* const node = bin;
                bin = node->next;
                SuperHeap::free(node);
            }
        }
        const bool any = waiting_ != 0;
        waiting_ = 0;
        return any;
    }

    Node* bins_[bins] = {};
    std::size_t waiting_ = 0; ///< bytes in the bins
    Mutex lock_;
};

} // namespace heapwright
