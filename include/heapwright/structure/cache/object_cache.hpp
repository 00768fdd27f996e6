// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The freed objects of one thread: a list for each size class, last in, first out. Only the thread
// changes it, so there is no lock and no atomic instruction. cached_object.hpp describes a waiting
// object.
//
// Invariant: each list is intact, and `kept_` is at least the sum over the lists. This holds after
// every instruction, because another thread may fork at any moment.
// Cost: two loads and four stores to take an object, and the same to put one.
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/platform/poison.hpp>
#include <heapwright/sizeclass/size_classes.hpp>
#include <heapwright/structure/cache/cached_object.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright {

template <SizeClasses Classes>
class ObjectCache {
public:
    constexpr ObjectCache() noexcept = default;

    /// The newest object of a class, or null.
    [[nodiscard, gnu::always_inline]] void* take(std::size_t index) noexcept {
        ObjectLink* const object = lists_[index];
        if (object == nullptr) [[unlikely]] {
            return nullptr;
        }
        lists_[index] = object->next;
        std::atomic_signal_fence(std::memory_order_release);
        kept_.store(kept() - oneOf[index], std::memory_order_relaxed);
        return CachedObject::wake(object, Classes::sizeOf(index));
    }

    /// Keeps an object unless the total would exceed `Most` bytes. Returns whether it did.
    template <std::size_t Most>
    [[nodiscard, gnu::always_inline]] bool put(void* object, std::size_t index,
                                               std::uint64_t secret) noexcept {
        static_assert(Most / sizeof(CachedObject) < std::uint64_t{1} << countBits);
        const std::uint64_t kept = this->kept() + oneOf[index];
        if (kept >= std::uint64_t{Most + 1} << countBits) [[unlikely]] {
            return false;
        }
        kept_.store(kept, std::memory_order_relaxed);
        auto* const waiting =
            CachedObject::make(object, lists_[index], secret, Classes::sizeOf(index));
        std::atomic_signal_fence(std::memory_order_release);
        lists_[index] = waiting;
        return true;
    }

    /// Up to `count` objects of a class, as a chain without keys; null if there are none.
    [[nodiscard]] ObjectLink* takeChain(std::size_t index, std::size_t count) noexcept {
        ObjectLink* first = nullptr;
        for (; count > 0; --count) {
            void* const object = take(index);
            if (object == nullptr) {
                break;
            }
            first = ::new (object) ObjectLink{first};
        }
        return first;
    }

    /// The newest object of a class for which `leaves` holds, and all older ones, as a chain
    /// without keys; null if there is none.
    template <class Leaves>
    [[nodiscard]] ObjectLink* takeFrom(std::size_t index, Leaves leaves) noexcept {
        ObjectLink* newer = nullptr;
        ObjectLink* each = lists_[index];
        while (each != nullptr && !leaves(each)) {
            newer = each;
            each = each->next;
        }
        (newer != nullptr ? newer->next : lists_[index]) = nullptr;
        std::atomic_signal_fence(std::memory_order_release);
        ObjectLink* first = nullptr;
        while (each != nullptr) {
            ObjectLink* const older = each->next;
            kept_.store(kept() - oneOf[index], std::memory_order_relaxed);
            first = ::new (CachedObject::wake(each, Classes::sizeOf(index))) ObjectLink{first};
            each = older;
        }
        return first;
    }

    [[nodiscard]] bool isEmpty(std::size_t index) const noexcept {
        return lists_[index] == nullptr;
    }

    /// Removes all objects from the lists.
    void clear() noexcept {
        if constexpr (platform::poisons) {
            for (std::size_t index = 0; index < Classes::count; ++index) {
                while (take(index) != nullptr) {
                }
            }
        }
        lists_ = {};
        kept_.store(0, std::memory_order_relaxed);
    }

    /// The bytes and the number of waiting objects. Any thread may call these.
    [[nodiscard]] std::size_t bytes() const noexcept { return kept() >> countBits; }
    [[nodiscard]] std::size_t count() const noexcept {
        return kept() & ((std::uint64_t{1} << countBits) - 1);
    }

private:
    /// The bytes are in the bits above the count, so that one addition changes both.
    static constexpr unsigned countBits = 20;

    /// What one object of each class adds to `kept_`, in a table.
    static constexpr std::array<std::uint64_t, Classes::count> oneOf = [] {
        std::array<std::uint64_t, Classes::count> table{};
        for (std::size_t index = 0; index < Classes::count; ++index) {
            table[index] = (std::uint64_t{Classes::sizeOf(index)} << countBits) + 1;
        }
        return table;
    }();
    [[nodiscard]] std::uint64_t kept() const noexcept {
        return kept_.load(std::memory_order_relaxed);
    }

    SharedWord<std::uint64_t> kept_; ///< bytes and objects; other threads read it
    std::array<ObjectLink*, Classes::count> lists_{};
};

} // namespace heapwright
