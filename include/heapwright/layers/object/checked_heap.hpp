// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Aborts with one line on a free that the heap below would not survive. These are a free of an
// object freed twice, of an address that is no object, and of an address inside an object. Every
// verb with an object argument checks it.
//
// Invariant: the tag of a live object says live, and that of a freed object says free.
// It cannot detect a double free after the memory was reused, nor an address whose tag lies in
// unmapped memory.
// Cost: one compare and one store for each verb.
//
// Example: CheckedHeap<SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <UncheckedHeap SuperHeap>
class CheckedHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool tagged = true;
    static constexpr bool checked = true;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "aborts on a double free or a pointer that is no object";
    using Below = Heaps<SuperHeap>;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if constexpr (RecyclingHeap<SuperHeap>) {
            return SuperHeap::malloc(size, [](void* object) { Tag::of(object).makeLive(); });
        } else {
            return madeLive(SuperHeap::malloc(size));
        }
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return madeLive(SuperHeap::zalloc(size));
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return madeLive(SuperHeap::memalign(align, size));
    }

    void free(void* object) noexcept {
        check(object, "free");
        Tag::of(object).makeFree();
        SuperHeap::free(object);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        check(object, "malloc_usable_size");
        return SuperHeap::getSize(object);
    }

    /// Exists for any superheap, because `realloc` calls this first, so a wrong pointer shows here.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        check(object, "realloc");
        if constexpr (ResizableHeap<SuperHeap>) {
            return SuperHeap::resize(object, size);
        } else {
            return size <= SuperHeap::getSize(object);
        }
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        check(object, "realloc");
        return SuperHeap::relocate(object, size);
    }

    /// For layers above that keep freed objects: ends the program unless the object is live.
    /// Pre: a live object is the caller's. Needs no lock.
    static void check(void* object, std::string_view routine) noexcept {
        if (addressOf(object) % minAlignment != 0 || !Tag::of(object).is(State::live))
            [[unlikely]] {
            refuse(object, routine);
        }
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::clear;
    using Forwards::flush;
    using Forwards::heldByThisThread;
    using Forwards::measure;
    using Forwards::owns;
    using Forwards::trim;

private:
    static void* madeLive(void* object) noexcept {
        if (object != nullptr) [[likely]] {
            Tag::of(object).makeLive();
        }
        return object;
    }

    [[noreturn, gnu::cold, gnu::noinline]] static void refuse(void* object,
                                                              std::string_view routine) noexcept {
        const bool freed = addressOf(object) % minAlignment == 0 && Tag::of(object).is(State::free);
        const bool again = freed && routine == "free";
        platform::abortWithMessage(routine, again   ? "double free"
                                            : freed ? "use of a freed object"
                                                    : "invalid pointer");
    }
};

} // namespace heapwright
