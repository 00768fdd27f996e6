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
// bytes, apart from the objects (structure/life_bits.hpp): it is exact whatever the program has
// written where, for small and large objects, from any thread, and is asked before the object is
// touched; so it tells a freed object even when its memory is gone. It is forgotten when an object
// starts at the same address: a double free after that frees somebody else's object.
//
// It needs no lock and may be entered by a signal handler that interrupted it, so it belongs at the
// top. Where there is no memory for the bits, `malloc` answers null. Cost: an atomic addition to
// make and to free an object, two loads of tables before it; of memory 1/64.
//
// Example: LiveMapHeap<MallocHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/life_bits.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <UnphasedHeap SuperHeap>
class LiveMapHeap : private SuperHeap {
public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool processLocal = true; ///< so are the bits
    static constexpr bool tagged = requires { requires SuperHeap::tagged; };
    static constexpr bool adopting = false; ///< it knows what it has given out itself
    static constexpr std::string_view caption = "knows live objects by two bits apart from them";
    using Below = Heaps<SuperHeap>;

    constexpr LiveMapHeap() noexcept = default;
    ~LiveMapHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return entered(SuperHeap::malloc(size));
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept requires ZeroingHeap<SuperHeap> {
        return entered(SuperHeap::zalloc(size));
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept requires HoldingHeap<SuperHeap> {
        return entered(SuperHeap::mallocHeld(size));
    }

    [[nodiscard]] void* memalign(std::size_t align,
                                 std::size_t size) noexcept requires AlignedHeap<SuperHeap> {
        return entered(SuperHeap::memalign(align, size));
    }

    [[nodiscard]] void*
    memalignHeld(std::size_t align,
                 std::size_t size) noexcept requires AlignedHoldingHeap<SuperHeap> {
        return entered(SuperHeap::memalignHeld(align, size));
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

    [[nodiscard]] std::size_t getSize(void* object) noexcept requires SizedHeap<SuperHeap> {
        check(object, "malloc_usable_size");
        return SuperHeap::getSize(object);
    }

    /// Also where the superheap has no such verb: `realloc` asks this first, so it is where a
    /// wrong pointer given to it shows.
    [[nodiscard]] bool resize(void* object,
                              std::size_t size) noexcept requires SizedHeap<SuperHeap> {
        check(object, "realloc");
        if constexpr (ResizableHeap<SuperHeap>) {
            return SuperHeap::resize(object, size);
        } else {
            return size <= SuperHeap::getSize(object);
        }
    }

    /// The old address is left first, for another thread may be given it at once.
    [[nodiscard]] void* relocate(void* object,
                                 std::size_t size) noexcept requires RelocatingHeap<SuperHeap> {
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

    bool flush() noexcept requires FlushableHeap<SuperHeap> { return SuperHeap::flush(); }

    bool trim(std::size_t pad) noexcept requires TrimmableHeap<SuperHeap> {
        return SuperHeap::trim(pad);
    }

    void clear() noexcept requires ClearableHeap<SuperHeap> {
        bits_.clear();
        SuperHeap::clear();
    }

    void measure(Footprint& footprint) noexcept requires MeasurableHeap<SuperHeap> {
        SuperHeap::measure(footprint);
    }

    [[nodiscard]] bool owns(const void* object) noexcept requires OwningHeap<SuperHeap> {
        return SuperHeap::owns(object);
    }

    void beforeFork() noexcept requires ForkableHeap<SuperHeap> { SuperHeap::beforeFork(); }
    void afterForkInParent() noexcept requires ForkableHeap<SuperHeap> {
        SuperHeap::afterForkInParent();
    }
    void afterForkInChild() noexcept requires ForkableHeap<SuperHeap> {
        SuperHeap::afterForkInChild();
    }
    [[nodiscard]] bool heldByThisThread() const noexcept requires requires(const SuperHeap& heap) {
        heap.heldByThisThread();
    }
    { return SuperHeap::heldByThisThread(); }

private:
    static bool isOdd(const void* object) noexcept { return addressOf(object) % minAlignment != 0; }

    void* entered(void* object) noexcept {
        if (object == nullptr) [[unlikely]] {
            return nullptr;
        }
        if (!bits_.ensure(object)) [[unlikely]] {
            SuperHeap::free(object);
            return nullptr;
        }
        if (bits_.enter(object) == Life::live) [[unlikely]] {
            platform::abortWithMessage("malloc", "memory given out twice");
        }
        return object;
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
