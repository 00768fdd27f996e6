// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Any heap as a C++ class's `operator new` and `operator delete`. A class inherits from it. A class
// that must not be changed is wrapped instead:
//
//   using NodeHeap = FreelistHeap<ChunkHeap<64 * KiB, 0, MmapHeap>>;
//   struct Node : PerClassHeap<Node, NodeHeap> { ... };
//   using PooledNode = PooledClass<Node, NodeHeap>;
//
// The process has one heap for the class. It exists before the first object and is never destroyed.
// Threads may create objects at once if the heap allows that (`LockedHeap`). A heap of one size
// serves only objects of exactly this class. Larger derived objects, arrays, and alignments that
// the heap lacks use the program's ordinary operators. The compiler passes the size to the delete,
// which shows where an object belongs. A heap of any size serves all of them. Without memory, the
// new handler is called, and then `std::bad_alloc` is thrown, or null is returned for
// `std::nothrow`.
//
// Deleting a derived object through its base requires a virtual destructor, as always. If a
// constructor throws under `new (std::nothrow)`, the size of the object is unknown. A heap of one
// size then loses the memory, unless the class is `final`.
//
// Cost: none; the size is known at compile time.
// Source: per-class pools (Stroustrup, The C++ Programming Language); the layer is from Heap
// Layers. It is not a heap itself.
//
// Example: PerClassHeap<DefaultName, FreelistHeap<ChunkHeap<64 * KiB, 0, MmapHeap>>>
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/immortal.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/exceptions.hpp>

#include <cstddef>
#include <new>
#include <string_view>
#include <type_traits>

namespace heapwright {

namespace detail {

/// The implementation of the operators. It is separate, so that a class inherits no other names.
template <class Class, class SuperHeap>
struct ClassMemory {
    static inline constinit Immortal<SuperHeap> heap{};

    static constexpr std::size_t ordinary = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    static constexpr bool anySize = AnySizeHeap<SuperHeap>;

    static constexpr bool aligns(std::size_t align) noexcept {
        return align <= SuperHeap::alignment || AlignedHeap<SuperHeap>;
    }
    /// Whether the heap serves such objects. The answer is the same for new and delete.
    static constexpr bool serves(std::size_t size, std::size_t align, bool array) noexcept {
        return aligns(align) && (anySize || (!array && size == sizeof(Class)));
    }

    static void* take(std::size_t size, std::size_t align, bool array = false) noexcept {
        if (!serves(size, align, array)) {
            return align <= ordinary ? ::operator new(size, std::nothrow)
                                     : ::operator new(size, std::align_val_t{align}, std::nothrow);
        }
        if constexpr (AlignedHeap<SuperHeap>) {
            if (align > SuperHeap::alignment) {
                return heap.object.memalign(align, size);
            }
        }
        return heap.object.malloc(size);
    }

    static void* orThrow(std::size_t size, std::size_t align, bool array = false) {
        for (;;) {
            void* const object = take(size, align, array);
            if (object != nullptr) [[likely]] {
                return object;
            }
            const std::new_handler handler = std::get_new_handler();
            if (handler == nullptr) {
                platform::throwBadAlloc();
            }
            handler();
        }
    }

    static void giveBack(void* object, std::size_t size, std::size_t align) noexcept {
        if (object == nullptr) {
            return;
        }
        if (!serves(size, align, false)) {
            giveBackElsewhere(object, align);
            return;
        }
        if constexpr (SizedFreeHeap<SuperHeap>) {
            if (align <= SuperHeap::alignment) {
                heap.object.free(object, size);
                return;
            }
        }
        heap.object.free(object);
    }

    static void giveBackUnsized(void* object, std::size_t align) noexcept {
        if constexpr (anySize || std::is_final_v<Class>) {
            aligns(align) ? heap.object.free(object) : giveBackElsewhere(object, align);
        } else if (!aligns(align)) {
            giveBackElsewhere(object, align);
        }
    }

    static void giveBackArray(void* array, std::size_t align) noexcept {
        if (anySize && aligns(align) && array != nullptr) {
            heap.object.free(array);
        } else {
            giveBackElsewhere(array, align);
        }
    }

    static void giveBackElsewhere(void* object, std::size_t align) noexcept {
        if (align <= ordinary) {
            ::operator delete(object);
        } else {
            ::operator delete(object, std::align_val_t{align});
        }
    }
};

} // namespace detail

template <class Class, MaxAlignedHeap SuperHeap>
    requires AnyOrderHeap<SuperHeap>
class PerClassHeap {
    using Memory_ = detail::ClassMemory<Class, SuperHeap>;

public:
    static constexpr std::string_view caption = "serves the objects of one class";
    using Below = Heaps<SuperHeap>;

    /// The heap of the class, to measure it, to trim it or to hold it over a fork.
    [[nodiscard]] static SuperHeap& classHeap() noexcept { return Memory_::heap.object; }

    static void* operator new(std::size_t size) {
        return Memory_::orThrow(size, Memory_::ordinary);
    }
    static void* operator new(std::size_t size, std::align_val_t align) {
        return Memory_::orThrow(size, static_cast<std::size_t>(align));
    }
    static void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
        return Memory_::take(size, Memory_::ordinary);
    }
    static void* operator new(std::size_t size, std::align_val_t align,
                              const std::nothrow_t& /*tag*/) noexcept {
        return Memory_::take(size, static_cast<std::size_t>(align));
    }
    /// Placement new, which the operators above would hide.
    static void* operator new(std::size_t /*size*/, void* place) noexcept { return place; }

    /// There is no `operator delete` without a size, because the compiler would prefer it.
    static void operator delete(void* object, std::size_t size) noexcept {
        Memory_::giveBack(object, size, Memory_::ordinary);
    }
    static void operator delete(void* object, std::size_t size, std::align_val_t align) noexcept {
        Memory_::giveBack(object, size, static_cast<std::size_t>(align));
    }
    /// Called after a constructor that threw.
    static void operator delete(void* object, const std::nothrow_t& /*tag*/) noexcept {
        Memory_::giveBackUnsized(object, Memory_::ordinary);
    }
    static void operator delete(void* object, std::align_val_t align,
                                const std::nothrow_t& /*tag*/) noexcept {
        Memory_::giveBackUnsized(object, static_cast<std::size_t>(align));
    }
    static void operator delete(void* /*object*/, void* /*place*/) noexcept {}

    static void* operator new[](std::size_t size) {
        return Memory_::orThrow(size, Memory_::ordinary, true);
    }
    static void* operator new[](std::size_t size, std::align_val_t align) {
        return Memory_::orThrow(size, static_cast<std::size_t>(align), true);
    }
    static void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
        return Memory_::take(size, Memory_::ordinary, true);
    }
    static void* operator new[](std::size_t size, std::align_val_t align,
                                const std::nothrow_t& /*tag*/) noexcept {
        return Memory_::take(size, static_cast<std::size_t>(align), true);
    }
    static void* operator new[](std::size_t /*size*/, void* place) noexcept { return place; }

    static void operator delete[](void* array) noexcept {
        Memory_::giveBackArray(array, Memory_::ordinary);
    }
    static void operator delete[](void* array, std::align_val_t align) noexcept {
        Memory_::giveBackArray(array, static_cast<std::size_t>(align));
    }
    static void operator delete[](void* array, const std::nothrow_t& /*tag*/) noexcept {
        Memory_::giveBackArray(array, Memory_::ordinary);
    }
    static void operator delete[](void* array, std::align_val_t align,
                                  const std::nothrow_t& /*tag*/) noexcept {
        Memory_::giveBackArray(array, static_cast<std::size_t>(align));
    }
    static void operator delete[](void* /*array*/, void* /*place*/) noexcept {}
};

/// An unchanged class with a heap of its own. Hold its objects by this type, or by a base with a
/// virtual destructor. Otherwise `delete` does not use the heap.
template <class Class, MaxAlignedHeap SuperHeap>
    requires AnyOrderHeap<SuperHeap>
class PooledClass final : public Class,
                          public PerClassHeap<PooledClass<Class, SuperHeap>, SuperHeap> {
public:
    using Class::Class;
};

} // namespace heapwright
