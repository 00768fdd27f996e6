// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Of which size class a live object is, for caches above the heap that it is from: from that heap
// if it knows and has the same classes, else by the object's size. Whether the object is live at
// all is asked on the way, where the heap can tell. No lock is taken where the heap needs none.
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/sizeclass/size_classes.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>

namespace heapwright {

/// A class reporting heap knows the size class of a live object, and ends the program, in the name
/// of a routine, if it is none.
template <class H>
concept ClassReportingHeap =
    Heap<H> && requires(H heap, void* object, std::string_view routine, std::size_t index) {
        { heap.classOfLive(object, routine) } -> std::same_as<std::size_t>;
        { H::sizeOfClass(index) } -> std::same_as<std::size_t>;
    };

namespace detail {

/// Whether a heap's classes begin with these.
template <class H, SizeClasses Classes>
consteval bool beginsWith() {
    for (std::size_t index = 0; index < Classes::count; ++index) {
        if (H::sizeOfClass(index) != Classes::sizeOf(index)) {
            return false;
        }
    }
    return true;
}

} // namespace detail

/// A classifying heap knows the class of each live object, of classes that begin with these, and
/// aborts on others. For what is of none of its classes it answers a number that is none.
template <class H, class Classes>
concept ClassifyingHeap = ClassReportingHeap<H> && detail::beginsWith<H, Classes>();

/// The size of an object, for who is outside the lock of the heap, if that can be had.
template <SizedHeap H>
[[nodiscard]] std::size_t sizeOutside(H& heap, void* object) noexcept {
    if constexpr (UnlockedSizeHeap<H>) {
        return heap.getSizeUnlocked(object);
    } else {
        return heap.getSize(object);
    }
}

/// The last of the classes that an object can serve; `count` or more if there is none. Aborts if
/// the heap can tell that it is not live.
template <SizeClasses Classes, SizedHeap H>
[[nodiscard, gnu::always_inline]] inline std::size_t
classOfLiveIn(H& heap, void* object, [[maybe_unused]] std::string_view routine) noexcept {
    if constexpr (ClassifyingHeap<H, Classes>) {
        return heap.classOfLive(object, routine);
    } else {
        if constexpr (CheckingHeap<H>) {
            heap.check(object, routine);
        }
        return Classes::classOf(sizeOutside(heap, object));
    }
}

} // namespace heapwright
