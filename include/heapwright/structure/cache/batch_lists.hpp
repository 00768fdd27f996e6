// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The freed objects of one size class that one thread keeps: a list that serves, and a spare, which
// is a full batch or empty. When the serving list reaches a target, it becomes the spare. Between
// two moves of a batch there are thus at least `target` requests, in any order. Only the thread
// changes the lists. cached_object.hpp describes a waiting object.
//
// Invariant: no object is on both lists. This holds after every instruction, because another thread
// may fork at any moment.
// Source: McKenney and Slingwine (1993).
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/structure/cache/cached_object.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright {

class BatchLists {
public:
    constexpr BatchLists() noexcept = default;

    /// An object of the serving list, or null.
    [[nodiscard, gnu::always_inline]] void* take(std::size_t size) noexcept {
        ObjectLink* const object = serving_;
        if (object == nullptr) [[unlikely]] {
            return nullptr;
        }
        serving_ = object->next;
        count_.store(count() - 1, std::memory_order_relaxed);
        return CachedObject::wake(object, size);
    }

    /// Adds the object to the serving list unless that has `target` objects. Returns whether it
    /// did.
    [[nodiscard, gnu::always_inline]] bool put(void* object, std::size_t size, std::uint64_t secret,
                                               std::uint32_t target) noexcept {
        const std::uint32_t have = count();
        if (have >= target) [[unlikely]] {
            return false;
        }
        ObjectLink* const waiting = CachedObject::make(object, serving_, secret, size);
        std::atomic_signal_fence(std::memory_order_release);
        serving_ = waiting;
        count_.store(have + 1, std::memory_order_relaxed);
        return true;
    }

    /// Makes a list of waiting objects the serving list.
    /// Pre: that is empty.
    void serveFrom(ObjectLink* list, std::uint32_t objects) noexcept {
        count_.store(objects, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_release);
        serving_ = list;
    }

    /// Removes the serving list.
    [[nodiscard]] ObjectLink* removeServing() noexcept {
        ObjectLink* const list = serving_;
        serving_ = nullptr;
        count_.store(0, std::memory_order_relaxed);
        return list;
    }
    [[nodiscard]] ObjectLink* removeSpare() noexcept {
        ObjectLink* const list = spare_.load(std::memory_order_relaxed);
        spare_.store(nullptr, std::memory_order_relaxed);
        return list;
    }

    /// Makes the serving list the spare. Returns the previous spare, or null.
    [[nodiscard]] ObjectLink* setAside() noexcept {
        ObjectLink* const before = removeSpare();
        ObjectLink* const full = removeServing();
        std::atomic_signal_fence(std::memory_order_release);
        spare_.store(full, std::memory_order_relaxed);
        return before;
    }

    /// The number of objects in the serving list, and whether there is a spare. Any thread may call
    /// these.
    [[nodiscard]] std::uint32_t count() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool hasSpare() const noexcept {
        return spare_.load(std::memory_order_relaxed) != nullptr;
    }

private:
    ObjectLink* serving_ = nullptr;
    SharedWord<ObjectLink*> spare_; ///< other threads read it
    SharedWord<std::uint32_t> count_;
};

} // namespace heapwright
