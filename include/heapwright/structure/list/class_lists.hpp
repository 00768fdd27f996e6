// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A list for each size class, as the segregating heaps have them before the heap that they all
// share: at the segregating heap's own address, so that their index needs no offset. Named after
// their owner, so that such a heap can stand on another with lists of the same type. Lists that
// threads share, each behind a lock of its own, stand on cache lines of their own.
// AddressSanitizer is told that what waits is nobody's, but for what the list itself needs of it.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/poison.hpp>

#include <cstddef>
#include <type_traits>

namespace heapwright {

namespace detail {

template <class H>
struct alignas(64) OnOwnLines : H {};

} // namespace detail

template <class Owner, class PerClass, class Classes>
struct ClassLists {
    std::conditional_t<ConcurrentHeap<PerClass>, detail::OnOwnLines<PerClass>, PerClass>
        lists_[Classes::count];

    /// Puts an object on the list of a class; false if the list declines it.
    bool keeps(void* object, std::size_t index) noexcept {
        sleeps(object, index); // before another thread can wake it
        if constexpr (RetainingHeap<PerClass>) {
            if (!lists_[index].tryRetain(object)) {
                woken(object, index);
                return false;
            }
        } else {
            lists_[index].free(object);
        }
        return true;
    }

    /// An object on the list of a class.
    static void sleeps(void* object, std::size_t index) noexcept {
        if constexpr (platform::poisons) {
            if (Classes::sizeOf(index) > needed) {
                platform::poison(forward(object, needed), Classes::sizeOf(index) - needed);
            }
        }
    }
    /// The object, or null, from the list of a class.
    static void* woken(void* object, std::size_t index) noexcept {
        if constexpr (platform::poisons) {
            if (object != nullptr) {
                platform::unpoison(object, Classes::sizeOf(index));
            }
        }
        return object;
    }

    /// Hands everything that waits to the heap below; true if there was anything.
    template <class Below>
    bool flushLists(Below& below) noexcept {
        bool any = false;
        for (std::size_t index = 0; index < Classes::count; ++index) {
            while (void* const object = lists_[index].mallocHeld(Classes::sizeOf(index))) {
                below.free(woken(object, index));
                any = true;
            }
        }
        return any;
    }

    /// Forgets everything that waits; without looking at it where the list can.
    void clearLists() noexcept {
        for (std::size_t index = 0; index < Classes::count; ++index) {
            if constexpr (ClearableHeap<PerClass> && !platform::poisons) {
                lists_[index].clear();
            } else {
                while (woken(lists_[index].mallocHeld(0), index) != nullptr) {
                }
            }
        }
    }

    /// Counts what waits, with the least size that objects of its class have.
    void measureLists(MemoryUsage& usage) noexcept {
        for (std::size_t index = 0; index < Classes::count; ++index) {
            MemoryUsage list;
            lists_[index].measure(list);
            usage.heldCount += list.heldCount;
            usage.held += list.heldCount * Classes::sizeOf(index);
        }
    }

private:
    /// What a list needs of an object that waits on it.
    static constexpr std::size_t needed = roundUp(leastObjectOf<PerClass>, sizeof(void*));
};

/// The largest class, at least, has objects that are large enough to wait.
template <class PerClass, class Classes>
concept KeepsClasses = (leastObjectOf<PerClass> <= Classes::sizeOf(Classes::count - 1));

} // namespace heapwright
