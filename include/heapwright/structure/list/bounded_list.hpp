// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A dictionary, last in, first out, that is full with `Most` objects. It has the links of
// `LifoList` and a count. With `Most` zero it is always full.
#pragma once

#include <heapwright/structure/list/dictionary.hpp>
#include <heapwright/structure/list/lifo_list.hpp>

#include <cstddef>

namespace heapwright {

/// Invariant: `count_` objects are on the list, never more than `Most`.
template <std::size_t Most>
class BoundedList {
public:
    static constexpr std::size_t leastObject = LifoList::leastObject;
    static constexpr bool bySize = false;

    constexpr BoundedList() noexcept = default;

    [[nodiscard]] bool full() const noexcept { return count_ == Most; }

    /// Pre: it is not full.
    void insert(void* object, std::size_t size) noexcept {
        list_.insert(object, size);
        ++count_;
    }

    [[nodiscard]] void* take(std::size_t size) noexcept {
        void* const object = list_.take(size);
        count_ -= object != nullptr ? 1U : 0U;
        return object;
    }

    void remove(void* object) noexcept {
        list_.remove(object);
        --count_;
    }

    void clear() noexcept {
        list_.clear();
        count_ = 0;
    }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }

private:
    LifoList list_;
    std::size_t count_ = 0;
};

static_assert(BoundedDictionary<BoundedList<1>>);

} // namespace heapwright
