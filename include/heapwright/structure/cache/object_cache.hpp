// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What one thread keeps of freed objects: a list for each size class, the last in first out. Nobody
// else changes it, so there is no lock and no atomic instruction. How an object waits is in
// cached_object.hpp.
//
// Invariants, at every instruction, since a fork of another thread may leave the child with what
// stands here at any moment: each list is whole; `kept_` is not below what is on the lists.
// Cost: two loads and four stores to take one, as much to put one.
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

    /// The object of a class that came last, or null.
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

    /// Keeps an object unless all together would have more than `Most` bytes; whether it did.
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

    /// Up to `count` objects of a class, as a chain that keeps no key; null if there are none.
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

    [[nodiscard]] bool isEmpty(std::size_t index) const noexcept {
        return lists_[index] == nullptr;
    }

    /// Forgets everything.
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

    /// How many bytes wait, and how many objects. Any thread may ask.
    [[nodiscard]] std::size_t bytes() const noexcept { return kept() >> countBits; }
    [[nodiscard]] std::size_t count() const noexcept {
        return kept() & ((std::uint64_t{1} << countBits) - 1);
    }

private:
    /// The bytes stand above the count, so that one addition does for both.
    static constexpr unsigned countBits = 20;

    /// What one object of each class adds, so that no class has to be computed back into a size.
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

    SharedWord<std::uint64_t> kept_; ///< bytes and objects; others read it
    std::array<ObjectLink*, Classes::count> lists_{};
};

} // namespace heapwright
