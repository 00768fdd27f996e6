// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks a heap of its own for the objects of some call sites. The policy knows these call sites, for
// example from a recording of the program. The caller passes the return address of the program's
// request (`tryMallocFrom`). The first heap serves the addresses and sizes that the policy has.
// Every other request, and each one that the first heap declines, goes to the superheap.
//
// A freed object returns to the heap that it came from: the first heap recognises its own by the
// address (`owns`). A wrong prediction thus costs only performance. Before `resolveSites`, and for
// code that is loaded later, no call site is known.
//
// The layer stands above the locks of the superheap. Pre: the first heap is safe for the threads
// and signal handlers for which the superheap is.
// Cost: a search in a small table for each request with a return address, a range check for each
// free. A request without a return address costs nothing more.
// Source: Barrett and Zorn, "Using lifetime predictors to improve memory allocation performance",
// PLDI 1993.
//
// Example: CallSiteHeap<CallSiteTable<NoCallSites>, ShortLivedHeap<16, 8 * KiB, MmapHeap>, MallocHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/cache/fast_path.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/map/call_site_table.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

namespace detail {

/// The type that `HandlerNotifiedHeap` demands. Void if the heap is not notified.
template <class H>
struct HandlerType {
    using BeforeHandler = void;
};

template <HandlerNotifiedHeap H>
struct HandlerType<H> {
    using BeforeHandler = typename H::BeforeHandler;
};

} // namespace detail

template <CallSitePolicy Sites, OwningHeap First, SizedHeap SuperHeap>
    requires(SizedHeap<First> && First::alignment == SuperHeap::alignment &&
             alignmentOffsetOf<First> == alignmentOffsetOf<SuperHeap>)
class CallSiteHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool concurrent = ConcurrentHeap<First> && ConcurrentHeap<SuperHeap>;
    static constexpr bool splitPath = SplitPathHeap<SuperHeap>;
    static constexpr bool processLocal = true; ///< return addresses belong to the process
    static constexpr std::string_view caption = "asks a heap of its own for some call sites";
    using Below = Heaps<First, SuperHeap>;

    constexpr CallSiteHeap() noexcept = default;

    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        return SuperHeap::malloc(size);
    }

    /// Null if the policy does not have this call site, or if the first heap declines.
    [[nodiscard, gnu::always_inline]] void* tryMallocFrom(std::size_t size,
                                                          const void* caller) noexcept {
        if (sites_.has(caller, size)) {
            if (void* const object = first_.malloc(size)) [[likely]] {
                return object;
            }
        }
        if constexpr (SitePredictingHeap<SuperHeap>) {
            return SuperHeap::tryMallocFrom(size, caller);
        } else {
            return nullptr;
        }
    }

    void resolveSites() noexcept {
        sites_.resolve();
        if constexpr (SitePredictingHeap<SuperHeap>) {
            SuperHeap::resolveSites();
        }
    }

    [[gnu::always_inline]] void free(void* object) noexcept {
        if (first_.owns(object)) {
            first_.free(object);
        } else {
            SuperHeap::free(object);
        }
    }

    [[nodiscard, gnu::always_inline]] void* tryMallocFast(std::size_t size) noexcept
        requires SplitPathHeap<SuperHeap>
    {
        return SuperHeap::tryMallocFast(size);
    }
    [[nodiscard, gnu::always_inline]] bool tryFreeFast(void* object) noexcept
        requires SplitPathHeap<SuperHeap>
    {
        if (first_.owns(object)) {
            first_.free(object);
            return true;
        }
        return SuperHeap::tryFreeFast(object);
    }
    [[nodiscard]] void* mallocSlow(std::size_t size) noexcept
        requires SplitPathHeap<SuperHeap>
    {
        return SuperHeap::mallocSlow(size);
    }
    /// The fast path has freed the objects of the first heap.
    void freeSlow(void* object) noexcept
        requires SplitPathHeap<SuperHeap>
    {
        SuperHeap::freeSlow(object);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return first_.owns(object) ? first_.getSize(object) : SuperHeap::getSize(object);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<First> || ResizableHeap<SuperHeap>
    {
        if (first_.owns(object)) {
            if constexpr (ResizableHeap<First>) {
                return first_.resize(object, size);
            }
        } else if constexpr (ResizableHeap<SuperHeap>) {
            return SuperHeap::resize(object, size);
        }
        return false;
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return first_.owns(object) ? nullptr : SuperHeap::relocate(object, size);
    }

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        return first_.owns(object) || SuperHeap::owns(object);
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<First> && MeasurableHeap<SuperHeap>
    {
        first_.measure(usage);
        SuperHeap::measure(usage);
    }

    void beforeFork() noexcept
        requires ForkableHeap<First> || ForkableHeap<SuperHeap>
    {
        eachFork([](auto& heap) { heap.beforeFork(); });
    }
    void afterForkInParent() noexcept
        requires ForkableHeap<First> || ForkableHeap<SuperHeap>
    {
        eachFork([](auto& heap) { heap.afterForkInParent(); });
    }
    void afterForkInChild() noexcept
        requires ForkableHeap<First> || ForkableHeap<SuperHeap>
    {
        eachFork([](auto& heap) { heap.afterForkInChild(); });
    }

    using BeforeHandler = typename detail::HandlerType<SuperHeap>::BeforeHandler;

    [[nodiscard]] static bool inRequest() noexcept
        requires HandlerNotifiedHeap<SuperHeap>
    {
        return SuperHeap::inRequest();
    }
    [[nodiscard]] static BeforeHandler beforeHandler(auto part, Address interrupted) noexcept
        requires HandlerNotifiedHeap<SuperHeap>
    {
        return SuperHeap::beforeHandler(part, interrupted);
    }
    static void afterHandler(const auto& before) noexcept
        requires HandlerNotifiedHeap<SuperHeap>
    {
        SuperHeap::afterHandler(before);
    }

    using Forwards::inspect; ///< The first heap is not counted.
    using Forwards::memalign;
    using Forwards::purgeExpired;
    using Forwards::trim;
    using Forwards::zalloc;

private:
    template <class Do>
    void eachFork(Do act) noexcept {
        if constexpr (ForkableHeap<First>) {
            act(first_);
        }
        if constexpr (ForkableHeap<SuperHeap>) {
            act(static_cast<SuperHeap&>(*this));
        }
    }

    First first_;
    Sites sites_;
};

} // namespace heapwright
