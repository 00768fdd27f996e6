// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A list for each size class, as the segregating heaps have them before the heap that they all
// share: at the segregating heap's own address, so that their index needs no offset. Named after
// their owner, so that such a heap can stand on another with lists of the same type.
#pragma once

#include <heapwright/core/concepts.hpp>

#include <cstddef>

namespace heapwright {

template <class Owner, class PerClass, class Classes>
struct ClassLists {
    PerClass lists_[Classes::count];

    /// Hands everything that waits to the heap below; true if there was anything.
    template <class Below>
    bool flushLists(Below& below) noexcept {
        bool any = false;
        for (std::size_t index = 0; index < Classes::count; ++index) {
            while (void* const object = lists_[index].mallocHeld(Classes::sizeOf(index))) {
                below.free(object);
                any = true;
            }
        }
        return any;
    }

    /// Forgets everything that waits.
    void clearLists() noexcept {
        for (PerClass& list : lists_) {
            while (list.mallocHeld(0) != nullptr) {
            }
        }
    }

    /// Counts what waits, with the least size that objects of its class have.
    void measureLists(Footprint& footprint) noexcept {
        for (std::size_t index = 0; index < Classes::count; ++index) {
            Footprint list;
            lists_[index].measure(list);
            footprint.heldCount += list.heldCount;
            footprint.held += list.heldCount * Classes::sizeOf(index);
        }
    }
};

/// The largest class, at least, has objects that are large enough to wait.
template <class PerClass, class Classes>
concept KeepsClasses = (leastObjectOf<PerClass> <= Classes::sizeOf(Classes::count - 1));

} // namespace heapwright
