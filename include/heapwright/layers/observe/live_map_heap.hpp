// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Knows every live object by its address, and ends the program when another address is freed,
// resized or measured, before anybody below sees it:
//
//   heapwright: free(): double free              an object started there and was freed
//   heapwright: free(): invalid pointer          none ever did: an address inside an object, before
//                                                one, on the stack, or none of this heap
//   heapwright: malloc(): memory given out twice the heap below was led astray
//
// Where another verb is given the object, its routine is named (`realloc`, `malloc_usable_size`),
// and a freed object is a `use of a freed object`. What is known stands in two bits for each 16
// bytes, apart from the objects (structure/map/life_bits.hpp): it is exact whatever the program has
// written where, for small and large objects, from any thread, and is asked before the object is
// touched; so it tells a freed object even when its memory is gone. It is forgotten when an object
// starts at the same address: a double free after that frees somebody else's object.
//
// It needs no lock and may be entered by a signal handler that interrupted it, so it belongs at the
// top. Where there is no memory for the bits, what is free goes to the system first, and then
// `malloc` answers null. Who walks over the heap sees what is live by them, whatever the heaps
// below say of it. Cost: an atomic addition to make and to free an object, three loads before it;
// of memory 1/64.
//
// Example: LiveMapHeap<MallocHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/map/life_bits.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <MaxAlignedHeap SuperHeap>
class LiveMapHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool processLocal = true; ///< so are the bits
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = false; ///< it knows what it has given out itself
    static constexpr std::string_view caption = "knows live objects by two bits apart from them";
    using Below = Heaps<SuperHeap>;

    constexpr LiveMapHeap() noexcept = default;
    ~LiveMapHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return entered([&] { return SuperHeap::malloc(size); });
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return entered([&] { return SuperHeap::zalloc(size); });
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return entered([&] { return SuperHeap::mallocHeld(size); });
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return entered([&] { return SuperHeap::memalign(align, size); });
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return entered([&] { return SuperHeap::memalignHeld(align, size); });
    }

    void free(void* object) noexcept {
        if (isOdd(object)) [[unlikely]] {
            refuse(Life::none, "free");
        }
        const Life life = bits_.leave(object);
        if (life != Life::live) [[unlikely]] {
            refuse(life, "free");
        }
        SuperHeap::free(object);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept
        requires SizedHeap<SuperHeap>
    {
        check(object, "malloc_usable_size");
        return SuperHeap::getSize(object);
    }

    /// Also where the superheap has no such verb: `realloc` asks this first, so it is where a
    /// wrong pointer given to it shows.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires SizedHeap<SuperHeap>
    {
        check(object, "realloc");
        if constexpr (ResizableHeap<SuperHeap>) {
            return SuperHeap::resize(object, size);
        } else {
            return size <= SuperHeap::getSize(object);
        }
    }

    /// The old address is left first, for another thread may be given it at once.
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        check(object, "realloc");
        bits_.leave(object);
        void* const moved = SuperHeap::relocate(object, size);
        const void* const now = moved == nullptr ? object : moved;
        if (!bits_.ensure(now)) [[unlikely]] {
            bits_.passAllNear(now);
        }
        bits_.enter(now);
        return moved;
    }

    /// Aborts unless an object is live.
    void check(void* object, std::string_view routine) noexcept {
        const Life life = isOdd(object) ? Life::none : bits_.at(object);
        if (life != Life::live) [[unlikely]] {
            refuse(life, routine);
        }
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        bits_.clear();
        SuperHeap::clear();
    }

    void walk(const ObjectVisitor& visit) noexcept
        requires WalkableHeap<SuperHeap>
    {
        const auto told = [this, &visit](LiveObject object) {
            object.cached = bits_.at(object.address) != Life::live;
            visit(object);
        };
        SuperHeap::walk(ObjectVisitor(told));
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::flush;
    using Forwards::heldByThisThread;
    using Forwards::inspect;
    using Forwards::measure;
    using Forwards::owns;
    using Forwards::purgeExpired;
    using Forwards::trim;

private:
    static bool isOdd(const void* object) noexcept { return addressOf(object) % minAlignment != 0; }

    template <class Get>
    [[gnu::always_inline]] void* entered(Get get) noexcept {
        void* object = get();
        if (object == nullptr) [[unlikely]] {
            return nullptr;
        }
        if (!bits_.ensure(object)) [[unlikely]] {
            object = elsewhere(object, get);
            if (object == nullptr) {
                return nullptr;
            }
        }
        if (bits_.enter(object) == Life::live) [[unlikely]] {
            platform::abortWithMessage("malloc", "memory given out twice");
        }
        return object;
    }

    /// For an object that can have no bits: another, when the system has got back what is free, and
    /// has room for bits perhaps; else null.
    template <class Get>
    [[gnu::cold, gnu::noinline]] void* elsewhere(void* object, Get get) noexcept {
        SuperHeap::free(object);
        if constexpr (TrimmableHeap<SuperHeap>) {
            object = SuperHeap::trim(0) ? get() : nullptr;
            if (object == nullptr || bits_.ensure(object)) {
                return object;
            }
            SuperHeap::free(object);
        }
        return nullptr;
    }

    [[noreturn, gnu::cold, gnu::noinline]] static void refuse(Life life,
                                                              std::string_view routine) noexcept {
        const bool freed = life == Life::freed;
        platform::abortWithMessage(routine, !freed              ? "invalid pointer"
                                            : routine == "free" ? "double free"
                                                                : "use of a freed object");
    }

    LifeBits<minAlignment> bits_;
};

} // namespace heapwright
