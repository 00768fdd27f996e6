// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The objects of the checking library: each one of malloc's, with a fill before it is first written
// and after it is freed, and a few bytes behind it that nobody may write. What has become of it is
// kept in a map apart from its memory.
//
// A freed object waits, with its fill, before its memory goes back: the last 65,536 or 16 MiB.
// While it waits it is known how it ended. Of an object beyond a mebibyte only the first mebibyte
// is filled and compared. Not for several threads: the caller has a lock.
// Cost: O(log n) in the map for each call, the fills, and 72 bytes and more for each object.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/map/address_map.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heapwright::capi::checked {

/// What has become of an object.
enum class Fate : std::uint8_t { live, freed, cleared };

/// One object. `Group` is what has it; only its address is of interest here.
template <class Group>
struct Life {
    Address start;
    std::size_t size;
    Group* group;
    Life* next; ///< of the same group while it is live, else of all that wait
    Life* previous;
    Fate fate;

    [[nodiscard]] void* object() const noexcept { return pointerTo(start); }
};

template <class Group>
class Objects {
    using Object = Life<Group>;
    using Map = AddressMap<Object>;
    using Entry = typename Map::Entry;

public:
    static constexpr unsigned char newByte = 0xC3;
    static constexpr unsigned char freedByte = 0xDB;

    /// An object of a group, at the head of its list; null if there is no memory.
    [[nodiscard]] void* make(Group& group, Object*& list, std::size_t align,
                             std::size_t size) noexcept {
        std::size_t whole = 0;
        Entry* const entry =
            __builtin_add_overflow(size, behind, &whole) ? nullptr : map_.reserve();
        if (entry == nullptr) {
            return nullptr;
        }
        void* const object = source_.memalign(align, whole);
        if (object == nullptr) {
            map_.release(entry);
            return nullptr;
        }
        std::memset(object, newByte, comparedOf(size));
        std::memset(forward(object, size), guardByte, behind);
        entry->value = Object{addressOf(object), size, &group, list, nullptr, Fate::live};
        if (list != nullptr) {
            list->previous = &entry->value;
        }
        list = &entry->value;
        map_.insert(entry, addressOf(object), size);
        return object;
    }

    /// The object at an address, live or not; null if there is none.
    [[nodiscard]] Object* at(const void* address) const noexcept {
        Entry* const entry = map_.find(addressOf(address));
        return entry == nullptr ? nullptr : &entry->value;
    }

    /// The live object in which an address lies; null if there is none.
    [[nodiscard]] Object* around(const void* address) const noexcept {
        Entry* const entry = map_.overlapping(addressOf(address), 1);
        return entry != nullptr && entry->value.fate == Fate::live ? &entry->value : nullptr;
    }

    /// Ends the program if somebody wrote behind a live object.
    static void checkBehind(const Object& live, std::string_view routine) noexcept {
        const auto* const guard =
            static_cast<const unsigned char*>(forward(live.object(), live.size));
        for (std::size_t i = 0; i < behind; ++i) {
            if (guard[i] != guardByte) [[unlikely]] {
                platform::abortWithMessage(routine, "overflow");
            }
        }
    }

    /// Ends a live object, which is on a list.
    void end(Object& live, Object*& list, Fate fate, std::string_view routine) noexcept {
        checkBehind(live, routine);
        (live.previous != nullptr ? live.previous->next : list) = live.next;
        if (live.next != nullptr) {
            live.next->previous = live.previous;
        }
        std::memset(live.object(), freedByte, comparedOf(live.size));
        live.fate = fate;
        live.next = nullptr;
        (newest_ != nullptr ? newest_->next : oldest_) = &live;
        newest_ = &live;
        ++waiting_;
        waitingBytes_ += live.size;
        while (waiting_ > mostWaiting || waitingBytes_ > mostBytes) {
            letGo();
        }
    }

    /// Ends the program if somebody wrote to a freed object that still waits.
    void checkWaiting() const noexcept {
        for (const Object* dead = oldest_; dead != nullptr; dead = dead->next) {
            checkFill(*dead);
        }
    }

private:
    static constexpr std::size_t behind = 16;
    static constexpr unsigned char guardByte = 0xB5;
    static constexpr std::size_t mostWaiting = 65'536;
    static constexpr std::size_t mostBytes = 16 * MiB;

    static std::size_t comparedOf(std::size_t size) noexcept { return size < MiB ? size : MiB; }

    static void checkFill(const Object& dead) noexcept {
        const auto* const bytes = static_cast<const unsigned char*>(dead.object());
        for (std::size_t i = 0; i < comparedOf(dead.size); ++i) {
            if (bytes[i] != freedByte) [[unlikely]] {
                platform::abortWithMessage("free", "use after free");
            }
        }
    }

    /// The memory of the one that has waited longest goes back.
    void letGo() noexcept {
        const Object dead = *oldest_;
        checkFill(dead);
        oldest_ = dead.next;
        newest_ = oldest_ == nullptr ? nullptr : newest_;
        --waiting_;
        waitingBytes_ -= dead.size;
        Entry* const entry = map_.find(dead.start);
        map_.remove(entry);
        map_.release(entry);
        source_.free(dead.object());
    }

    Map map_;
    [[no_unique_address]] MallocHeap source_;
    Object* oldest_ = nullptr; ///< of those that wait
    Object* newest_ = nullptr;
    std::size_t waiting_ = 0;
    std::size_t waitingBytes_ = 0;
};

} // namespace heapwright::capi::checked
