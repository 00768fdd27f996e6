// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The objects of the checking library. Each is allocated by malloc, filled when it is new and when
// it is freed, and has a few guard bytes behind it. Its state is in a map apart from its memory.
//
// A freed object is kept, with its fill, before its memory is freed: the last 65,536 objects or 16
// MiB. Meanwhile the reason of its end is known. Only the first MiB of an object is filled and
// compared. It is not for several threads: the caller holds a lock.
// Cost: O(log n) in the map for each call, the fills, and at least 72 bytes for each object.
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

/// The state of an object, or the reason of its end.
enum class Fate : std::uint8_t { live, freed, cleared };

/// One object. `Group` is its owner, of which only the address is used.
template <class Group>
struct Life {
    Address start;
    std::size_t size;
    Group* group;
    Life* next; ///< of the same group while it is live, else of all kept objects
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

    /// Creates an object of a group, first in its list; null if there is no memory.
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

    /// The live object that contains an address; null if there is none.
    [[nodiscard]] Object* around(const void* address) const noexcept {
        Entry* const entry = map_.overlapping(addressOf(address), 1);
        return entry != nullptr && entry->value.fate == Fate::live ? &entry->value : nullptr;
    }

    /// Ends the program if the guard bytes of a live object have changed.
    static void checkBehind(const Object& live, std::string_view routine) noexcept {
        const auto* const guard =
            static_cast<const unsigned char*>(forward(live.object(), live.size));
        for (std::size_t i = 0; i < behind; ++i) {
            if (guard[i] != guardByte) [[unlikely]] {
                platform::abortWithMessage(routine, "overflow");
            }
        }
    }

    /// Ends a live object.
    /// Pre: it is on `list`.
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

    /// Ends the program if a kept object was written to.
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

    /// Frees the memory of the oldest kept object.
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
    Object* oldest_ = nullptr; ///< of the kept objects
    Object* newest_ = nullptr;
    std::size_t waiting_ = 0;
    std::size_t waitingBytes_ = 0;
};

} // namespace heapwright::capi::checked
