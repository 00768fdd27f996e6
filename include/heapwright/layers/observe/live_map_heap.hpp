// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Records every live object by its address, and ends the program when another address is freed,
// resized or measured, before any heap below accesses it:
//
//   heapwright: free(): double free              an object started there and was freed
//   heapwright: free(): invalid pointer          none ever did: an address inside an object, before
//                                                one, on the stack, or none of this heap
//   heapwright: malloc(): memory given out twice the heap below returned a live object
//
// Other verbs are reported with their routine (`realloc`, `malloc_usable_size`), and a freed object
// is then reported as `use of a freed object`. The record has two bits for each 16 bytes, apart
// from the objects (structure/map/life_bits.hpp). It is exact for small and large objects and from
// any thread. No write of the program changes that. It is read before the object is accessed, so a
// freed object is recognised even when its memory is unmapped. A new object at the same address
// replaces the record, so a double free after that frees the new object.
//
// The layer needs no lock, and a signal handler that interrupted it may enter it, so it belongs at
// the top. Without memory for the bits, free memory is first returned to the system, and then
// `malloc` returns null. A walk reports the objects that are live by these bits. The reports of the
// heaps below have no influence.
// Cost: an atomic addition to allocate and to free an object, and three loads before it; 1/64 of
// the memory.
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
#include <heapwright/structure/cache/fast_path.hpp>
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
    static constexpr bool processLocal = true; ///< the bits belong to the process
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool acceptsEmpty = EmptyRequestHeap<SuperHeap>;
    /// Only this heap knows what it has returned.
    static constexpr bool acceptsForeignObjects = false;
    static constexpr std::string_view caption = "knows live objects by two bits apart from them";
    using Below = Heaps<SuperHeap>;

    constexpr LiveMapHeap() noexcept = default;
    ~LiveMapHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return entered(SuperHeap::malloc(size), [this, size] { return SuperHeap::malloc(size); });
    }

    [[nodiscard, gnu::always_inline]] void* mallocAtOnce(std::size_t size) noexcept
        requires AtOnceHeap<SuperHeap>
    {
        void* const object = SuperHeap::mallocAtOnce(size);
        if (object == nullptr) {
            return nullptr;
        }
        const Life before = bits_.enter(object);
        if (before == Life::live || before == Life::unknown) [[unlikely]] {
            return enteredLate(object, size, *this);
        }
        return object;
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return entered(SuperHeap::zalloc(size), [this, size] { return SuperHeap::zalloc(size); });
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return entered(SuperHeap::mallocHeld(size),
                       [this, size] { return SuperHeap::mallocHeld(size); });
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return entered(SuperHeap::memalign(align, size),
                       [this, align, size] { return SuperHeap::memalign(align, size); });
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return entered(SuperHeap::memalignHeld(align, size),
                       [this, align, size] { return SuperHeap::memalignHeld(align, size); });
    }

    void free(void* object) noexcept {
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

    /// Exists for any superheap, because `realloc` calls this first, so a wrong pointer shows here.
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

    /// Unmarks the old address first, because another thread may get it at once.
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
        const Life life = bits_.at(object);
        if (life != Life::live) [[unlikely]] {
            refuse(life, routine);
        }
    }

    void checkRequest(void* object, std::size_t size, std::size_t align,
                      std::string_view routine) noexcept
        requires RequestCheckingHeap<SuperHeap>
    {
        const Life life = bits_.at(object);
        if (life == Life::freed) [[unlikely]] { // the caller is about to free it
            platform::abortWithMessage(routine, "double free");
        }
        if (life != Life::live) [[unlikely]] {
            refuse(life, routine);
        }
        SuperHeap::checkRequest(object, size, align, routine);
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
    /// Enters a new object. `get` requests another one if it can have no bits.
    template <class Get>
    [[gnu::always_inline]] void* entered(void* object, Get get) noexcept {
        if (object == nullptr) [[unlikely]] {
            return nullptr;
        }
        Life before = bits_.enter(object);
        if (before == Life::unknown) [[unlikely]] {
            object = withBits(object, get);
            if (object == nullptr) {
                return nullptr;
            }
            before = bits_.enter(object);
        }
        if (before == Life::live) [[unlikely]] {
            platform::abortWithMessage("malloc", "memory given out twice");
        }
        return object;
    }

    /// Enters a new object that is live already, which is a mistake, or has no bits.
    [[gnu::cold, gnu::noinline]] static void* enteredLate(void* object, std::size_t size,
                                                          LiveMapHeap& heap) noexcept {
        return heap.entered(object,
                            [&heap, size] { return static_cast<SuperHeap&>(heap).malloc(size); });
    }

    /// Makes bits for an object, or replaces an object that can have none. It trims the heap, which
    /// may make room for bits, and tries again; else null.
    template <class Get>
    [[gnu::cold, gnu::noinline]] void* withBits(void* object, Get get) noexcept {
        if (bits_.ensure(object)) {
            return object;
        }
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
