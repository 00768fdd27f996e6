// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What one thread keeps of the freed objects of one size class: a list that serves, and a spare,
// which is there whole or not at all. As the serving list has reached a target it becomes the
// spare; so between two times that a batch changes hands there are as many requests as the target,
// at least, however they are mixed. Nobody else changes it; how an object waits is in
// cached_object.hpp.
//
// Invariant, at every instruction, since a fork of another thread may leave the child with what
// stands here at any moment: no object is on both lists. From McKenney and Slingwine (1993).
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

    /// From the serving list, or null.
    [[nodiscard, gnu::always_inline]] void* take(std::size_t size) noexcept {
        ObjectLink* const object = serving_;
        if (object == nullptr) [[unlikely]] {
            return nullptr;
        }
        serving_ = object->next;
        count_.store(count() - 1, std::memory_order_relaxed);
        return CachedObject::wake(object, size);
    }

    /// Onto the serving list unless that has `target` objects; whether it did.
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

    /// A list of waiting objects serves from now on. Pre: none does.
    void serveFrom(ObjectLink* list, std::uint32_t objects) noexcept {
        count_.store(objects, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_release);
        serving_ = list;
    }

    /// Removes what serves.
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

    /// What serves becomes the spare; answers with the spare that was there, or null.
    [[nodiscard]] ObjectLink* setAside() noexcept {
        ObjectLink* const before = removeSpare();
        ObjectLink* const full = removeServing();
        std::atomic_signal_fence(std::memory_order_release);
        spare_.store(full, std::memory_order_relaxed);
        return before;
    }

    /// How many objects serve, and whether there is a spare. Any thread may ask.
    [[nodiscard]] std::uint32_t count() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool hasSpare() const noexcept {
        return spare_.load(std::memory_order_relaxed) != nullptr;
    }

private:
    ObjectLink* serving_ = nullptr;
    SharedWord<ObjectLink*> spare_; ///< others look at it
    SharedWord<std::uint32_t> count_;
};

} // namespace heapwright
