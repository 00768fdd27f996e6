// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What one thread keeps in `OwnerCacheHeap`: a list of objects for each size class, each with the
// number of those that it may still take, and a list of objects that are at home elsewhere.
//
// `State` is what the two quick steps go by. As it is at first, `State{}`, both refuse: there is
// nothing to take, and the thread is at home nowhere. So it can be moved out of the way while a
// signal handler runs, and come back, between any two instructions of the quick steps.
// Invariant, while the cache is active: a list has as many objects as its room is below
// `Limits.roomFor`; so it does when another thread looks at the room, which is read as it is.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/platform/opaque.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/sizeclass/size_classes.hpp>
#include <heapwright/structure/cache/cache_limits.hpp>
#include <heapwright/structure/cache/freelist_encoding.hpp>
#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/structure/cache/repeat_counts.hpp>
#include <heapwright/structure/object/object_chain.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace heapwright {

template <class Cache>
class OwnerCacheView;

template <SizeClasses Classes, CacheLimits Limits, FreelistEncoding Encoding>
class OwnerCache {
    friend class OwnerCacheView<OwnerCache>;
    // For who looks from outside, under names that parameters do not have.
    using ClassesKept = Classes;
    static_assert(Limits.areValid(), "each count of objects is at least 1");
    static constexpr CacheLimits limits = Limits;
    using EncodingKept = Encoding;

public:
    struct State {
        std::array<ObjectLink*, Classes::count> heads{};
        OwnerTag me = uncachedOwnerTag; ///< the key of the thread
    };

    /// How many objects of a class are to come now that none waits, and how many to go now that
    /// there is no more room: in a streak twice as many each time, up to what there is room for.
    [[nodiscard]] std::size_t refills(std::size_t index) noexcept {
        const Numbers& numbers = numbers_[index];
        return std::min<std::size_t>(std::size_t{numbers.refill} << repeats_.fill(index),
                                     numbers.room);
    }
    [[nodiscard]] std::size_t flushes(std::size_t index) noexcept {
        const Numbers& numbers = numbers_[index];
        return std::min<std::size_t>(std::size_t{numbers.flush} << repeats_.empty(index),
                                     numbers.room);
    }

    /// The first that waits of a class, or null.
    [[nodiscard, gnu::always_inline]] void* take(std::size_t index) noexcept {
        ObjectLink* const object = platform::asAnswer(state.heads[index]);
        if (object == nullptr) [[unlikely]] {
            return nullptr;
        }
        state.heads[index] = Encoding::decode(object->next, object);
        ++room_[index];
        return object;
    }

    /// Makes an object the first that waits of its class, if there is room.
    [[nodiscard, gnu::always_inline]] bool put(void* object, std::size_t index) noexcept {
        if (--room_[index] < 0) [[unlikely]] {
            std::atomic_signal_fence(std::memory_order_seq_cst); // or two are kept in registers
            ++room_[index];
            return false;
        }
        push(object, index);
        return true;
    }

    /// Keeps a chain of `number` objects, for which there is room. Pre: none of the class waits.
    void fill(ObjectLink* chain, std::size_t number, std::size_t index) noexcept {
        ++refills_;
        state.heads[index] = chain;
        room_[index] -= static_cast<Room>(number);
        if constexpr (!asTheyAre) {
            while (chain != nullptr) {
                ObjectLink* const next = chain->next;
                chain->next = Encoding::encode(next, chain);
                chain = next;
            }
        }
    }

    /// Hands up to `most` objects of a class out: `give(chain, number)` takes the first `number` of
    /// a chain and answers with the rest. Whether there was any.
    template <class Give>
    bool hand(std::size_t index, std::size_t most, Give give) noexcept {
        if (state.heads[index] == nullptr) {
            return false;
        }
        const std::size_t waiting = count(index);
        const std::size_t number = std::min(most, waiting);
        ++flushes_;
        if constexpr (asTheyAre) {
            room_[index] += static_cast<Room>(waiting);
            ObjectLink* const rest = give(std::exchange(state.heads[index], nullptr), number);
            state.heads[index] = rest;
            room_[index] -= static_cast<Room>(waiting - number);
        } else {
            [[maybe_unused]] ObjectLink* const none = give(takeChain(index, number), number);
        }
        return true;
    }

    /// Keeps an object of `size` bytes that is at home elsewhere. When there are too many, all are
    /// handed out, as a chain.
    [[nodiscard]] ObjectLink* putRemote(void* object, std::size_t size) noexcept {
        remote_ = ::new (object) ObjectLink{remote_};
        ++remoteCount_;
        remoteBytes_ += size;
        return remoteCount_ < Limits.remoteObjects && remoteBytes_ < Limits.remoteBytes
                   ? nullptr
                   : takeRemote();
    }

    [[nodiscard]] ObjectLink* takeRemote() noexcept {
        remoteCount_ = 0;
        remoteBytes_ = 0;
        ObjectLink* const chain = remote_;
        remote_ = nullptr;
        flushes_ += chain != nullptr ? 1U : 0U;
        return chain;
    }

    /// Adds what waits.
    void measure(MemoryUsage& usage) const noexcept {
        for (std::size_t index = 0; index < Classes::count; ++index) {
            usage.held += count(index) * Classes::sizeOf(index);
            usage.heldCount += count(index);
        }
        usage.held += remoteBytes_;
        usage.heldCount += remoteCount_;
    }

    /// How many objects of a class wait.
    [[nodiscard]] std::size_t count(std::size_t index) const noexcept {
        const std::uint32_t most = Limits.roomFor(Classes::sizeOf(index));
        return most - static_cast<std::uint32_t>(room_[index]);
    }

    [[nodiscard]] bool isActive() const noexcept { return phase_ == Phase::active; }

    /// Whether the cache may begin; once for each thread it may.
    [[nodiscard]] bool mayBegin() noexcept {
        const bool may = phase_ == Phase::notYet;
        phase_ = may ? Phase::none : phase_;
        return may;
    }
    /// It begins for the thread with a key, or never if the thread has none.
    void begin(OwnerTag key) noexcept {
        if (key != uncachedOwnerTag) {
            for (std::size_t index = 0; index < Classes::count; ++index) {
                room_[index] = static_cast<Room>(Limits.roomFor(Classes::sizeOf(index)));
            }
            thread_ = platform::threadNumber();
            state.me = key;
            phase_ = Phase::active;
        }
    }
    /// It is over. Pre: nothing waits.
    void end() noexcept {
        state = State{};
        phase_ = Phase::none;
    }

    State state;

private:
    using Room = std::int32_t;
    /// Whether a list is a chain.
    static constexpr bool asTheyAre = std::is_same_v<Encoding, PlainFreelist>;
    enum class Phase : std::uint8_t { notYet, active, none };

    struct Numbers {
        std::uint16_t refill; ///< how many come, the first time
        std::uint16_t flush;  ///< how many go
        std::uint16_t room;   ///< how many there may be
    };
    static constexpr auto numbers_ = [] {
        std::array<Numbers, Classes::count> table{};
        for (std::size_t index = 0; index < Classes::count; ++index) {
            const std::size_t size = Classes::sizeOf(index);
            table[index] = {static_cast<std::uint16_t>(Limits.refillFor(size)),
                            static_cast<std::uint16_t>(Limits.flushFor(size)),
                            static_cast<std::uint16_t>(Limits.roomFor(size))};
        }
        return table;
    }();

    /// Up to `most` objects of a class, as a chain; null if none waits.
    [[nodiscard]] ObjectLink* takeChain(std::size_t index, std::size_t most) noexcept {
        ObjectLink* first = nullptr;
        ObjectLink** end = &first;
        for (; most > 0; --most) {
            void* const object = take(index);
            if (object == nullptr) {
                break;
            }
            *end = ::new (object) ObjectLink{nullptr};
            end = &(*end)->next;
        }
        return first;
    }

    [[gnu::always_inline]] void push(void* object, std::size_t index) noexcept {
        ObjectLink*& head = state.heads[index];
        head = ::new (object) ObjectLink{Encoding::encode(head, object)};
    }

    std::array<Room, Classes::count> room_{};
    RepeatCounts<Classes::count> repeats_; ///< of refills and flushes
    ObjectLink* remote_ = nullptr;
    std::size_t remoteCount_ = 0;
    std::size_t remoteBytes_ = 0;
    std::uint64_t refills_ = 0; ///< batches that came
    std::uint64_t flushes_ = 0; ///< chains that went
    std::uint32_t thread_ = 0;  ///< whose it is
    Phase phase_ = Phase::notYet;
};

} // namespace heapwright
