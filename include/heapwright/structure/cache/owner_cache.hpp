// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of one thread in `OwnerCacheHeap`. It has a list of objects for each size class, and
// the number of further objects that each list may take. It also has a list of objects of other
// owners.
//
// The two fast functions first test `State`. In its initial value, `State{}`, both refuse: there is
// no object to take, and no object has the thread's tag. It can therefore be replaced while a
// signal handler runs, and restored, between any two instructions of the fast functions.
// A list of plain links ends at a link to itself. One comparison thus detects both an empty list
// and an object that was freed twice in a row, whose link is its own address, too. Such an object
// is never returned (`refuseDoubleFree`).
//
// Invariant, while the cache is active: the number of objects in a list is `Limits.roomFor` minus
// its room. Another thread that reads the room without synchronisation sees a value of some moment.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/platform/abort.hpp>
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
    // Names for code outside, because template parameters have none.
    using ClassesKept = Classes;
    static_assert(Limits.areValid(), "each count of objects is at least 1");
    static constexpr CacheLimits limits = Limits;
    using EncodingKept = Encoding;

    /// Whether links are plain addresses.
    static constexpr bool asTheyAre = std::is_same_v<Encoding, PlainFreelist>;

public:
    /// The end of every list. With plain links it is an object whose link is its own address.
    [[nodiscard, gnu::always_inline]] static constexpr ObjectLink* listEnd() noexcept {
        if constexpr (asTheyAre) {
            return const_cast<ObjectLink*>(&loop_); // it is never written
        } else {
            return nullptr;
        }
    }

    struct State {
        std::array<ObjectLink*, Classes::count> heads = emptyLists();
        OwnerTag me = uncachedOwnerTag; ///< the tag of the thread
    };

    /// The class that serves the next refill of a class. The first refills of a thread take objects
    /// of a coarser class. So a thread touches no page for a class that it seldom uses. A freed
    /// object goes to the list of the coarser class.
    [[nodiscard]] std::size_t refillClass(std::size_t index) noexcept {
        if constexpr (Limits.coarseRefills != 0) {
            if (coarseRefills_[index] < Limits.coarseRefills) {
                ++coarseRefills_[index];
                return coarse_[index];
            }
        }
        return index;
    }

    /// The numbers of objects of a class to refill an empty list with, and to return from a full
    /// list. A streak doubles the number each time, up to the list's limit.
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

    /// Ends the program if `take` refused because an object was freed twice in a row.
    [[gnu::always_inline]] void refuseDoubleFree(std::size_t index) const noexcept {
        if (state.heads[index] != listEnd()) [[unlikely]] {
            platform::abortWithMessage("free", "double free");
        }
    }

    /// The first waiting object of a class; null if the list is empty, or if its first object was
    /// freed twice in a row.
    [[nodiscard, gnu::always_inline]] void* take(std::size_t index) noexcept {
        ObjectLink* const object = platform::asAnswer(state.heads[index]);
        if constexpr (asTheyAre) {
            ObjectLink* const next = object->next;
            if (next == object) [[unlikely]] {
                return nullptr;
            }
            state.heads[index] = next;
        } else {
            if (object == nullptr) [[unlikely]] {
                return nullptr;
            }
            state.heads[index] = Encoding::decode(object->next, object);
        }
        ++room_[index];
        return object;
    }

    /// Puts an object first on its class's list, if there is room.
    [[nodiscard, gnu::always_inline]] bool put(void* object, std::size_t index) noexcept {
        if (--room_[index] < 0) [[unlikely]] {
            // Otherwise the compiler keeps two registers.
            std::atomic_signal_fence(std::memory_order_seq_cst);
            ++room_[index];
            return false;
        }
        push(object, index);
        return true;
    }

    /// Keeps a chain of `number` objects that ends at `listEnd()`.
    /// Pre: there is room, and the class's list is empty.
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

    /// Removes up to `most` objects of a class: `give(chain, number, end)` frees the first `number`
    /// of a chain and returns the rest. Returns whether there were any.
    template <class Give>
    bool hand(std::size_t index, std::size_t most, Give give) noexcept {
        ObjectLink* const first = state.heads[index];
        if (first == listEnd()) {
            return false;
        }
        const std::size_t waiting = count(index);
        const std::size_t number = std::min(most, waiting);
        ++flushes_;
        if constexpr (asTheyAre) {
            // The list is empty meanwhile, in case a handler leaves the request for good. So the
            // count may be too large, and the end comes early.
            state.heads[index] = listEnd();
            ObjectLink* const rest = give(first, number, listEnd());
            state.heads[index] = rest;
            room_[index] = rest == listEnd() ? static_cast<Room>(numbers_[index].room)
                                             : room_[index] + static_cast<Room>(number);
        } else {
            [[maybe_unused]] ObjectLink* const none =
                give(takeChain(index, number), number, nullptr);
        }
        return true;
    }

    /// Keeps an object of `size` bytes of another owner. Beyond the limit, returns all of them as a
    /// chain.
    /// Post: `number` is the number of objects in the chain.
    [[nodiscard]] ObjectLink* putRemote(void* object, std::size_t size,
                                        std::size_t& number) noexcept {
        remote_ = ::new (object) ObjectLink{remote_};
        number = ++remoteCount_;
        remoteBytes_ += size;
        return remoteCount_ < Limits.remoteObjects && remoteBytes_ < Limits.remoteBytes
                   ? nullptr
                   : takeRemote();
    }

    /// As `putRemote`, unless that would return a chain.
    [[nodiscard, gnu::always_inline]] bool tryPutRemote(void* object, std::size_t size) noexcept {
        if (remoteCount_ + 1 >= Limits.remoteObjects || remoteBytes_ + size >= Limits.remoteBytes) {
            return false;
        }
        remote_ = ::new (object) ObjectLink{remote_};
        ++remoteCount_;
        remoteBytes_ += size;
        return true;
    }

    [[nodiscard]] ObjectLink* takeRemote() noexcept {
        remoteCount_ = 0;
        remoteBytes_ = 0;
        ObjectLink* const chain = remote_;
        remote_ = nullptr;
        flushes_ += chain != nullptr ? 1U : 0U;
        return chain;
    }

    /// The objects that other threads have sent and that are in no list yet.
    [[nodiscard]] ObjectLink* takeCollected() noexcept {
        return std::exchange(collected_, nullptr);
    }
    void keepCollected(ObjectLink* chain) noexcept { collected_ = chain; }

    /// Adds the waiting objects.
    void measure(MemoryUsage& usage) const noexcept {
        for (std::size_t index = 0; index < Classes::count; ++index) {
            usage.held += count(index) * Classes::sizeOf(index);
            usage.heldCount += count(index);
        }
        usage.held += remoteBytes_;
        usage.heldCount += remoteCount_;
    }

    /// The number of waiting objects of a class.
    [[nodiscard]] std::size_t count(std::size_t index) const noexcept {
        const std::uint32_t most = Limits.roomFor(Classes::sizeOf(index));
        return most - static_cast<std::uint32_t>(room_[index]);
    }

    [[nodiscard]] bool isActive() const noexcept { return phase_ == Phase::active; }

    /// Whether the cache may begin; true once for each thread.
    [[nodiscard]] bool mayBegin() noexcept {
        const bool may = phase_ == Phase::notYet;
        phase_ = may ? Phase::none : phase_;
        return may;
    }
    /// Begins the cache for the thread with a tag, or never if the thread has none.
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
    /// Ends the cache.
    /// Pre: no object waits.
    void end() noexcept {
        state = State{};
        phase_ = Phase::none;
    }

    State state;

private:
    using Room = std::int32_t;
    enum class Phase : std::uint8_t { notYet, active, none };

    struct Numbers {
        std::uint16_t refill; ///< number of objects in the first refill
        std::uint16_t flush;  ///< number of objects in the first flush
        std::uint16_t room;   ///< limit of the list
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

    /// By class: the coarser class for its first refills.
    static constexpr auto coarse_ = [] {
        std::array<std::uint8_t, Classes::count> table{};
        for (std::size_t index = 0; index < Classes::count; ++index) {
            // By the smallest size of the class: slots are larger than their steps.
            const std::size_t least = index == 0 ? 1 : Classes::sizeOf(index - 1) + 1;
            const std::size_t coarser = Classes::classFor(CacheLimits::coarseSizeFor(least));
            table[index] = static_cast<std::uint8_t>(coarser < Classes::count ? coarser : index);
        }
        return table;
    }();
    static_assert(Classes::count <= UINT8_MAX);

    [[nodiscard]] static constexpr auto emptyLists() noexcept {
        std::array<ObjectLink*, Classes::count> heads{};
        heads.fill(listEnd());
        return heads;
    }

    static constinit const ObjectLink loop_;

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
    RepeatCounts<Classes::count> repeats_; ///< repeats of refills and flushes
    /// By class: the number of refills from the coarser class.
    std::array<std::uint8_t, Limits.coarseRefills != 0 ? Classes::count : 0> coarseRefills_{};
    ObjectLink* remote_ = nullptr;
    std::size_t remoteCount_ = 0;
    std::size_t remoteBytes_ = 0;
    ObjectLink* collected_ = nullptr;
    std::uint64_t refills_ = 0; ///< number of refills
    std::uint64_t flushes_ = 0; ///< number of returned chains
    std::uint32_t thread_ = 0;  ///< number of the thread
    Phase phase_ = Phase::notYet;
};

template <SizeClasses Classes, CacheLimits Limits, FreelistEncoding Encoding>
constinit const ObjectLink OwnerCache<Classes, Limits, Encoding>::loop_{
    const_cast<ObjectLink*>(&loop_)};

} // namespace heapwright
