// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Freed objects that wait in a cache above the heap that they are from, which takes them for live.
// Each begins with a link and a key. The key is a secret of the cache mixed with the object's
// address, so that whoever looks at an object can tell one that waits from anything that a program
// writes there; it is taken off again before the object leaves.
//
// AddressSanitizer is told that what waits is nobody's, but for link and key.
// Cost: a store to put the key on, one to take it off, a load and a compare to look.
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

/// The first two words of an object that waits.
struct CachedObject : ObjectLink {
    std::uint64_t key;

    /// Makes an object of `size` bytes wait.
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

    /// Pre: `object` has two words that may be read. A heap above may keep the object, and have
    /// poisoned it, so AddressSanitizer is not asked.
    [[nodiscard, gnu::no_sanitize_address]] static bool waits(const void* object,
                                                              std::uint64_t secret) noexcept {
        return static_cast<const CachedObject*>(object)->key == (addressOf(object) ^ secret);
    }
};

/// Of a set of size classes those whose objects have room for link and key.
template <SizeClasses Classes>
struct CachedClasses {
    /// Whether objects of a class can wait: there is such a class, and they have the room.
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

/// What the keys of a cache are made with.
class CachedObjectSecret {
public:
    [[nodiscard]] std::uint64_t get() const noexcept {
        return secret_.load(std::memory_order_relaxed);
    }

    /// Before an object comes from below for the first time: so none waits with another key.
    void ensure() noexcept {
        if (get() == 0) [[unlikely]] {
            std::uint64_t none = 0;
            secret_.compareExchange(none, platform::randomBits() | 1U, std::memory_order_relaxed,
                                    std::memory_order_relaxed);
        }
    }

    /// Aborts if an object waits. Pre: it has two words that may be read.
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

    SharedWord<std::uint64_t> secret_; ///< not 0 once an object has come from below
};

} // namespace heapwright
