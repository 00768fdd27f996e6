// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A list for each size class, as the segregating heaps have in front of the heap that they share.
// It lies at the segregating heap's own address, so that indexing needs no offset. The owner is a
// template parameter, so that such a heap can be above another one with lists of the same type.
// Lists that threads share, each with its own lock, have cache lines of their own. A waiting object
// is poisoned for AddressSanitizer, except for the bytes that the list needs.
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
        sleeps(object, index); // before another thread can take it
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

    /// Poisons an object on the list of a class.
    static void sleeps(void* object, std::size_t index) noexcept {
        if constexpr (platform::poisons) {
            if (Classes::sizeOf(index) > needed) {
                platform::poison(forward(object, needed), Classes::sizeOf(index) - needed);
            }
        }
    }
    /// Unpoisons an object, or null, from the list of a class.
    static void* woken(void* object, std::size_t index) noexcept {
        if constexpr (platform::poisons) {
            if (object != nullptr) {
                platform::unpoison(object, Classes::sizeOf(index));
            }
        }
        return object;
    }

    /// Frees all waiting objects to the heap below; true if there were any.
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

    /// Removes all waiting objects, without accessing them if the list supports that.
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

    /// Counts the waiting objects, with the size of their class.
    void measureLists(MemoryUsage& usage) noexcept {
        for (std::size_t index = 0; index < Classes::count; ++index) {
            MemoryUsage list;
            lists_[index].measure(list);
            usage.heldCount += list.heldCount;
            usage.held += list.heldCount * Classes::sizeOf(index);
        }
    }

private:
    /// The bytes of a waiting object that its list needs.
    static constexpr std::size_t needed = roundUp(leastObjectOf<PerClass>, sizeof(void*));
};

/// True if the objects of the largest class, at least, are large enough to wait.
template <class PerClass, class Classes>
concept KeepsClasses = (leastObjectOf<PerClass> <= Classes::sizeOf(Classes::count - 1));

} // namespace heapwright
