// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The size class of a live object, for caches above its heap. The heap reports it if it knows it
// and has the same classes. Otherwise it follows from the object's size. The heap also checks that
// the object is live, if it can. No lock is taken if the heap needs none.
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/sizeclass/size_classes.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>

namespace heapwright {

/// A class-reporting heap knows the size class of a live object. It ends the program, with the name
/// of a routine in the message, if the object is not live.
template <class H>
concept ClassReportingHeap =
    Heap<H> && requires(H heap, void* object, std::string_view routine, std::size_t index) {
        { heap.classOfLive(object, routine) } -> std::same_as<std::size_t>;
        { H::sizeOfClass(index) } -> std::same_as<std::size_t>;
    };

namespace detail {

/// Whether the classes of a heap begin with `Classes`.
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

/// A class-reporting heap whose classes begin with `Classes`. It aborts on an object that is not
/// live. For an object outside its classes it returns a number beyond them.
template <class H, class Classes>
concept ClassifyingHeap = ClassReportingHeap<H> && detail::beginsWith<H, Classes>();

/// The size of an object, for a caller without the heap's lock, if the heap supports that.
template <SizedHeap H>
[[nodiscard]] std::size_t sizeOutside(H& heap, void* object) noexcept {
    if constexpr (UnlockedSizeHeap<H>) {
        return heap.getSizeUnlocked(object);
    } else {
        return heap.getSize(object);
    }
}

/// The last class that an object can serve; `count` or more if there is none. Aborts if the heap
/// detects that the object is not live.
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
