// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The states of all objects of a heap, apart from their memory: live, freed and waiting, or gone
// (returned to the heap below). It ends the program on an address that must be live and is not, and
// on memory that was allocated twice. The messages are those of layers/observe/debug_heap.hpp.
//
// Invariant: no two ranges overlap. Objects go in the order of their frees. Gone objects are
// remembered until their memory is reused or `remembered` others have been freed. So a second free
// is distinguished from a wrong address.
// Cost: O(log n), that of the map.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/map/address_map.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

class LifeMap {
    enum class State : std::uint8_t { live, waiting, gone };
    struct Life {
        State state;
        std::uint64_t freedAs; ///< number of its free, from 0, unless it is live
    };
    using Objects = AddressMap<Life>;

public:
    using Entry = Objects::Entry;

    /// The number of freed objects that are remembered, including waiting ones. At most this many
    /// may wait.
    static constexpr std::size_t remembered = 4096;

    /// An entry for a new object; null if the system has no memory.
    [[nodiscard]] Entry* reserve() noexcept { return objects_.reserve(); }
    /// Frees an entry that was not used.
    void release(Entry* entry) noexcept { objects_.release(entry); }

    /// Makes a reserved entry that of a live object.
    void add(Entry* entry, void* object, std::size_t size, std::string_view routine) noexcept {
        makeRoom(addressOf(object), size, routine);
        entry->value = Life{State::live, 0};
        objects_.insert(entry, addressOf(object), size);
        ++liveCount_;
    }

    /// The entry of a live object. Aborts if the object is not live.
    [[nodiscard]] Entry& live(void* object, std::string_view routine) noexcept {
        Entry* const entry = objects_.find(addressOf(object));
        if (entry == nullptr || entry->value.state != State::live) [[unlikely]] {
            refuse(object, routine);
        }
        return *entry;
    }

    /// Records a new size of a live object.
    void resize(Entry& entry, std::size_t size, std::string_view routine) noexcept {
        if (size > entry.size && entry.start + size > entry.end()) {
            makeRoom(entry.end(), entry.start + size - entry.end(), routine);
        }
        entry.size = size;
    }

    /// Records a new address of a live object.
    void move(Entry& entry, void* object, std::size_t size, std::string_view routine) noexcept {
        objects_.remove(&entry);
        --liveCount_;
        add(&entry, object, size, routine);
    }

    /// Records the free of a live object, which then waits.
    void retire(Entry& entry) noexcept {
        Address& place = freedOnes_[freed_ % remembered];
        forget(place);
        entry.value = Life{State::waiting, freed_};
        place = entry.start;
        ++freed_;
        --liveCount_;
        waitingBytes_ += entry.size;
    }

    /// The oldest waiting object; null if none waits.
    [[nodiscard]] Entry* oldest() const noexcept {
        return gone_ == freed_ ? nullptr : objects_.find(freedOnes_[gone_ % remembered]);
    }

    /// Records that the oldest waiting object is gone.
    void letGo(Entry& entry) noexcept {
        entry.value.state = State::gone;
        waitingBytes_ -= entry.size;
        ++gone_;
    }

    /// Whether an address lies in an object that is live or waits.
    [[nodiscard]] bool owns(const void* address) const noexcept {
        const Entry* const entry = objects_.overlapping(addressOf(address), 1);
        return entry != nullptr && entry->value.state != State::gone;
    }

    [[nodiscard]] std::size_t liveCount() const noexcept { return liveCount_; }
    [[nodiscard]] std::size_t waitingCount() const noexcept { return freed_ - gone_; }
    [[nodiscard]] std::size_t waitingBytes() const noexcept { return waitingBytes_; }

    /// Runs `visit(object, size)` on each live object, in the order of addresses.
    template <class Visit>
    void forEachLive(Visit visit) const noexcept {
        for (const Entry* entry = objects_.atOrAfter(0); entry != nullptr;
             entry = objects_.atOrAfter(entry->start + 1)) {
            if (entry->value.state == State::live) {
                visit(pointerTo(entry->start), entry->size);
            }
        }
    }

    /// Removes all entries.
    void clear() noexcept {
        objects_.clear();
        liveCount_ = waitingBytes_ = 0;
        gone_ = freed_;
    }

private:
    /// Removes the gone objects in a range. Aborts if one there is not gone.
    void makeRoom(Address start, std::size_t size, std::string_view routine) noexcept {
        while (Entry* const there = objects_.overlapping(start, size)) {
            if (there->value.state != State::gone) [[unlikely]] {
                platform::abortWithMessage(routine, "overlapping object");
            }
            objects_.remove(there);
            objects_.release(there);
        }
    }

    /// Forgets the object that was freed `remembered` frees ago, if its address still has that
    /// state.
    void forget(Address start) noexcept {
        Entry* const entry = freed_ < remembered ? nullptr : objects_.find(start);
        if (entry != nullptr && entry->value.state == State::gone &&
            entry->value.freedAs == freed_ - remembered) {
            objects_.remove(entry);
            objects_.release(entry);
        }
    }

    [[noreturn, gnu::cold, gnu::noinline]] void refuse(void* object,
                                                       std::string_view routine) noexcept {
        const Entry* const entry = objects_.overlapping(addressOf(object), 1);
        const bool freed = entry != nullptr && entry->start == addressOf(object);
        const bool inside = !freed && entry != nullptr && entry->value.state == State::live;
        platform::abortWithMessage(routine, inside              ? "pointer inside an object"
                                            : !freed            ? "invalid pointer"
                                            : routine == "free" ? "double free"
                                                                : "use of a freed object");
    }

    Objects objects_;
    std::array<Address, remembered> freedOnes_{}; ///< by the number of their free
    std::uint64_t freed_ = 0;                     ///< number of frees so far
    std::uint64_t gone_ = 0;                      ///< number of objects that are gone
    std::size_t waitingBytes_ = 0;
    std::size_t liveCount_ = 0;
};

} // namespace heapwright
