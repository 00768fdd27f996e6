// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Large objects in runs of units of `Unit` bytes. Each run starts with a header of one cache line.
// The object follows it, or starts at its alignment if that is more.
//
// The unit that contains the byte before the object begins with the header. The header tells a
// cache, which knows only units, not to keep the object (structure/cache/owner_tag.hpp). It also
// tells this layer whether the object is live, so that a wrong free ends the program. The superheap
// handles sizes, growth in place, moves by pages, and zero bytes.
// Cost: a cache line. For an object aligned to a unit or more, one unit, of which one page is
// touched.
//
// Example: UnitObjectHeap<32 * KiB, ExtentHeap<32 * KiB, FutexLock, PurgeAfter<250>, SystemExtents>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace heapwright {

/// A heap that allocates runs of whole units, at multiples of `alignment`, and at a phase on
/// request.
template <class H>
concept RunHeap = SizedHeap<H> && ZeroingHeap<H> && ResizableHeap<H> && RelocatingHeap<H> &&
                  AnySizeHeap<H> && AnyOrderHeap<H> && PhaseAlignedHeap<H>;

template <std::size_t Unit, RunHeap SuperHeap>
    requires(SuperHeap::alignment % Unit == 0)
class UnitObjectHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    /// The state of an object, in its header.
    enum class State : std::uint64_t {
        live = 0xB7E5'4C41'5247'4531,
        freed = 0x93C5'4C41'5247'4531,
    };

    /// Invariant: the first unit of a run starts with a header.
    struct Header {
        OwnerTagWord home{noOwnerTag};
        void* owner = nullptr; ///< at the place of a superblock's owner
        State state = State::live;
        std::size_t lead;     ///< the distance from here to the object
        std::size_t capacity; ///< usable bytes of the object, to the end of its last page

        Header(std::size_t distance, std::size_t size) noexcept
            : lead(distance), capacity(capacityFor(distance, size)) {}

        /// The rest of the run is not usable, because a caller that fills all usable bytes would
        /// touch it.
        [[nodiscard]] static std::size_t capacityFor(std::size_t distance,
                                                     std::size_t size) noexcept {
            return roundUp(distance + size, platform::smallestPage) - distance;
        }
    };

    /// The heap that a fork has to hold. Faces of a shared heap do not forward a fork, so the
    /// shared heap itself is held here. Other users of it have locks of their own.
    template <class H>
    [[nodiscard]] static constexpr auto& forkedOf(H& heap) noexcept {
        if constexpr (FaceHeap<std::remove_const_t<H>>) {
            return H::theHeap();
        } else {
            return heap;
        }
    }
    using Forked = std::remove_reference_t<decltype(forkedOf(std::declval<SuperHeap&>()))>;

    static constexpr bool forkable = ForkableHeap<Forked>;
    static constexpr bool showsRuns = RunListingHeap<Forked>;

    static constexpr std::size_t leastLead = 64;
    static constexpr std::size_t largest = PTRDIFF_MAX / 2;
    static_assert(sizeof(Header) <= leastLead);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr std::size_t unitBytes = Unit;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool processLocal = ProcessLocalHeap<SuperHeap>;
    static constexpr bool ownsLockFree = LockFreeOwningHeap<SuperHeap>;
    static constexpr bool checked = true;
    static constexpr std::string_view caption =
        "large objects in runs of units, each behind a header";
    using Below = Heaps<SuperHeap>;

    constexpr UnitObjectHeap() noexcept = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return size > largest ? nullptr
                              : placed(SuperHeap::malloc(leastLead + size), leastLead, size);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept {
        return size > largest ? nullptr
                              : placed(SuperHeap::zalloc(leastLead + size), leastLead, size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        if (align <= leastLead) {
            return malloc(size);
        }
        if (size > largest || align > largest) {
            return nullptr;
        }
        if (align < Unit) {
            return placed(SuperHeap::malloc(align + size), align, size);
        }
        return placed(SuperHeap::mallocAt(Unit + size, align, align - Unit), Unit, size);
    }

    void free(void* object) noexcept {
        Header& header = checkedHeader(object, "free");
        header.state = State::freed;
        SuperHeap::free(&header);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return checkedHeader(object, "malloc_usable_size").capacity;
    }

    /// For a caller that may hold a lock: a signal handler. The object is not checked.
    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept {
        return headerOf(object).capacity;
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        Header& header = checkedHeader(object, "realloc");
        if (size > largest || !SuperHeap::resize(&header, header.lead + size)) {
            return false;
        }
        header.capacity = Header::capacityFor(header.lead, size);
        return true;
    }

    /// Does not move an object aligned to units, because the alignment might be lost.
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept {
        Header& header = checkedHeader(object, "realloc");
        const std::size_t lead = header.lead;
        if (size > largest || lead >= Unit) {
            return nullptr;
        }
        void* const run = SuperHeap::relocate(&header, lead + size);
        if (run == nullptr) {
            return nullptr;
        }
        static_cast<Header*>(run)->capacity = Header::capacityFor(lead, size);
        return forward(run, lead);
    }

    /// Ends the program unless the object is live.
    /// Pre: the address belongs to this heap.
    void check(void* object, std::string_view routine) noexcept {
        [[maybe_unused]] const Header& header = checkedHeader(object, routine);
    }

    /// Whether an address of the superheap is an object of this layer, live or freed.
    [[nodiscard]] static bool isHere(const void* object) noexcept {
        const Header& header = headerOf(object);
        return header.state == State::live || header.state == State::freed;
    }

    void inspect(HeapSnapshot& snapshot) noexcept
        requires InspectableHeap<SuperHeap> && showsRuns
    {
        eachObject([&](const LiveObject& object, bool alone) {
            ++snapshot.large.objects;
            snapshot.large.bytes += object.size;
            snapshot.large.direct += alone ? 1U : 0U;
            snapshot.large.directBytes += alone ? object.size : 0U;
        });
        SuperHeap::inspect(snapshot);
    }

    void walk(const ObjectVisitor& visit) noexcept
        requires showsRuns
    {
        eachObject([&](const LiveObject& object, bool) { visit(object); });
    }

    void beforeFork() noexcept
        requires forkable
    {
        forked().beforeFork();
    }
    void afterForkInParent() noexcept
        requires forkable
    {
        forked().afterForkInParent();
    }
    void afterForkInChild() noexcept
        requires forkable
    {
        forked().afterForkInChild();
    }
    [[nodiscard]] bool heldByThisThread() const noexcept
        requires forkable && ReentryDetectingHeap<Forked>
    {
        return forkedOf(static_cast<const SuperHeap&>(*this)).heldByThisThread();
    }

    using Forwards::clear;
    using Forwards::flush;
    using Forwards::measure;
    using Forwards::owns;
    using Forwards::purgeExpired;
    using Forwards::trim;

private:
    [[nodiscard]] auto& forked() noexcept { return forkedOf(static_cast<SuperHeap&>(*this)); }

    /// Runs `body` on each live object. Runs of other users of the same heap have no such header.
    template <class Body>
    void eachObject(Body body) noexcept {
        forked().forEachRun([&body](void* run, std::size_t /*bytes*/, bool alone) {
            const Header& header = *static_cast<const Header*>(run);
            if (header.home.load(std::memory_order_relaxed) == noOwnerTag &&
                header.owner == nullptr && header.state == State::live) {
                body(LiveObject{forward(run, header.lead), header.capacity}, alone);
            }
        });
    }

    [[nodiscard]] static Header& headerOf(const void* object) noexcept {
        return *static_cast<Header*>(pointerTo(unitOf<Unit>(object)));
    }

    [[nodiscard]] static void* placed(void* run, std::size_t lead, std::size_t size) noexcept {
        return run == nullptr ? nullptr : forward(::new (run) Header(lead, size), lead);
    }

    [[nodiscard]] static Header& checkedHeader(void* object, std::string_view routine) noexcept {
        Header& header = headerOf(object);
        const bool stands = addressOf(object) - addressOf(&header) == header.lead;
        if (header.state != State::live || !stands) [[unlikely]] {
            refuse(stands && header.state == State::freed, routine);
        }
        return header;
    }

    [[noreturn, gnu::cold, gnu::noinline]] static void refuse(bool freed,
                                                              std::string_view routine) noexcept {
        platform::abortWithMessage(routine, !freed              ? "invalid pointer"
                                            : routine == "free" ? "double free"
                                                                : "use of a freed object");
    }
};

} // namespace heapwright
