// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Freed objects in a cache above their heap, which counts them as live. Each begins with a link and
// a key. The key is a secret of the cache mixed with the object's address. It distinguishes a
// waiting object from any data of the program. The key is removed before the object leaves.
//
// Except for link and key, a waiting object is poisoned for AddressSanitizer.
// Cost: a store to set the key, a store to remove it, a load and a compare to test it.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/poison.hpp>
#include <heapwright/platform/random.hpp>
#include <heapwright/sizeclass/size_classes.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace heapwright {

/// The first two words of a waiting object.
struct CachedObject : ObjectLink {
    std::uint64_t key;

    /// Turns an object of `size` bytes into a waiting one.
    static CachedObject* make(void* object, ObjectLink* next, std::uint64_t secret,
                              [[maybe_unused]] std::size_t size) noexcept {
        auto* const waiting = ::new (object) CachedObject{{next}, addressOf(object) ^ secret};
        if constexpr (platform::poisons) {
            if (size > sizeof(CachedObject)) {
                platform::poison(waiting + 1, size - sizeof(CachedObject));
            }
        }
        return waiting;
    }

    /// Ends the wait of an object of `size` bytes.
    static void* wake(ObjectLink* waiting, [[maybe_unused]] std::size_t size) noexcept {
        if constexpr (platform::poisons) {
            platform::unpoison(waiting, size);
        }
        static_cast<CachedObject*>(waiting)->key = 0;
        return waiting;
    }

    /// Pre: two words of `object` are readable. A heap above may keep the object and have poisoned
    /// it, so this is not checked by AddressSanitizer.
    [[nodiscard, gnu::no_sanitize_address]] static bool waits(const void* object,
                                                              std::uint64_t secret) noexcept {
        return static_cast<const CachedObject*>(object)->key == (addressOf(object) ^ secret);
    }
};

/// Those of a set of size classes whose objects have room for link and key.
template <SizeClasses Classes>
struct CachedClasses {
    /// Whether objects of a class can wait: the class exists and has the room.
    [[nodiscard]] static constexpr bool has(std::size_t index) noexcept {
        return index - first < Classes::count - first;
    }

private:
    static constexpr std::size_t first = [] {
        std::size_t index = 0;
        while (index < Classes::count && Classes::sizeOf(index) < sizeof(CachedObject)) {
            ++index;
        }
        return index;
    }();
    static_assert(first < Classes::count, "the largest class, at least, has room for a key");
};

/// The secret of a cache's keys.
class CachedObjectSecret {
public:
    [[nodiscard]] std::uint64_t get() const noexcept {
        return secret_.load(std::memory_order_relaxed);
    }

    /// Draws the secret. Call it before the first object comes from below, so that all keys have
    /// the same secret.
    void ensure() noexcept {
        if (get() == 0) [[unlikely]] {
            std::uint64_t none = 0;
            secret_.compareExchange(none, platform::randomBits() | 1U, std::memory_order_relaxed,
                                    std::memory_order_relaxed);
        }
    }

    /// Aborts if the object waits.
    /// Pre: two words of it are readable.
    [[gnu::always_inline]] void refuseWaiting(const void* object,
                                              std::string_view routine) const noexcept {
        if (CachedObject::waits(object, get())) [[unlikely]] {
            refuse(routine);
        }
    }

private:
    [[noreturn, gnu::cold, gnu::noinline]] static void refuse(std::string_view routine) noexcept {
        platform::abortWithMessage(routine,
                                   routine == "free" ? "double free" : "use of a freed object");
    }

    SharedWord<std::uint64_t> secret_; ///< not 0 after the first `ensure`
};

} // namespace heapwright
