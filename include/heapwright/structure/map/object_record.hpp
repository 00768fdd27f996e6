// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A record of the objects that somebody holds, kept apart from them: nothing of an object is ever
// read or written. The addresses stand in an array in the order in which they were added, so that
// all objects can be given back, the newest first.
//
// One is looked for among the newest few; the first that is not there makes an index of all, a hash
// table of places, which is kept from then on. Who is struck off leaves a gap, and gaps are closed
// when they are half of the array. Invariants: the last entry is no gap; the index, if there is
// one, has a place for each entry that is no gap, and is at most half full.
// Cost: 8 bytes an object, 16 to 24 with an index; constant time, when averaged.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/random.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright {

/// The array and the index are objects of `Memory`, which each call is given.
template <Heap Memory>
class ObjectRecord {
    static constexpr std::size_t firstSharedRegion = 32;
    static constexpr std::size_t newest = 4; ///< so many are looked at without an index

public:
    constexpr ObjectRecord() noexcept = default;

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

    /// False if there is no memory; then nothing has changed. Pre: it is not in the record.
    [[nodiscard]] bool add(void* object, Memory& memory) noexcept {
        if (count_ == room_ && !makeRoom(*this, memory)) [[unlikely]] {
            return false;
        }
        if (index_ != nullptr) {
            enter(object, count_);
        }
        entries_[count_++] = object;
        return true;
    }

    /// What `placeOf` says of an object that is not in the record.
    static constexpr std::size_t nowhere = ~std::size_t{0};

    /// Where an object is, until the next is added or struck off.
    [[nodiscard]] std::size_t placeOf(const void* object, Memory& memory) noexcept {
        for (std::size_t back = 1; back <= newest && back <= count_; ++back) {
            if (entries_[count_ - back] == object) {
                return count_ - back;
            }
        }
        return count_ <= newest ? nowhere : find(object, memory);
    }

    /// Strikes an object off; false if it is not in the record.
    [[nodiscard]] bool remove(const void* object, Memory& memory) noexcept {
        const std::size_t place = placeOf(object, memory);
        return place != nowhere && removeAt(place, memory);
    }

    /// Puts another object in a place. Pre: it is not in the record.
    void replace(std::size_t place, void* other) noexcept {
        if (index_ != nullptr) {
            leave(entries_[place]);
            enter(other, place);
        }
        entries_[place] = other;
    }

    /// Calls `release` with each object, the newest first, and forgets them; the memory goes back.
    template <class Release>
    void popAll(Memory& memory, Release release) noexcept {
        dropIndex(memory);
        while (count_ != 0) {
            if (void* const object = entries_[--count_]) {
                release(object);
            }
        }
        if (entries_ != nullptr) {
            memory.free(entries_);
        }
        entries_ = nullptr;
        room_ = gaps_ = 0;
    }

    /// Whether `holds` says yes to any of them; asked of the newest first.
    template <class Question>
    [[nodiscard]] bool any(Question holds) const noexcept {
        for (std::size_t at = count_; at-- != 0;) {
            if (entries_[at] != nullptr && holds(entries_[at])) {
                return true;
            }
        }
        return false;
    }

private:
    [[nodiscard]] static std::size_t hash(const void* object) noexcept {
        return Random::mixed(addressOf(object));
    }

    /// Where one is that is not among the newest. Without memory for an index all are looked at.
    [[nodiscard]] std::size_t find(const void* object, Memory& memory) noexcept {
        if (index_ == nullptr && !makeIndex(room_, memory)) {
            for (std::size_t at = 0; at < count_; ++at) {
                if (entries_[at] == object) {
                    return at;
                }
            }
            return nowhere;
        }
        const std::uint32_t entry = index_[slotOf(object)];
        return entry == 0 ? nowhere : entry - 1;
    }

    /// The slot that names the object's place, or the empty one where it would stand.
    [[nodiscard]] std::size_t slotOf(const void* object) const noexcept {
        std::size_t slot = hash(object) & mask_;
        while (index_[slot] != 0 && entries_[index_[slot] - 1] != object) {
            slot = (slot + 1) & mask_;
        }
        return slot;
    }

    /// Pre: it is not in the index.
    void enter(const void* object, std::size_t place) noexcept {
        std::size_t slot = hash(object) & mask_;
        while (index_[slot] != 0) {
            slot = (slot + 1) & mask_;
        }
        index_[slot] = static_cast<std::uint32_t>(place + 1);
    }

    /// Takes an entry out of the index: what stands behind it, and came there only because it was
    /// in the way, moves up.
    void leave(const void* object) noexcept {
        std::size_t hole = slotOf(object);
        for (std::size_t slot = (hole + 1) & mask_; index_[slot] != 0; slot = (slot + 1) & mask_) {
            const std::size_t wanted = hash(entries_[index_[slot] - 1]) & mask_;
            if (((slot - wanted) & mask_) >= ((slot - hole) & mask_)) {
                index_[hole] = index_[slot];
                hole = slot;
            }
        }
        index_[hole] = 0;
    }

    bool removeAt(std::size_t place, Memory& memory) noexcept {
        if (index_ != nullptr) {
            leave(entries_[place]);
        }
        entries_[place] = nullptr;
        ++gaps_;
        while (count_ != 0 && entries_[count_ - 1] == nullptr) {
            --count_;
            --gaps_;
        }
        if (gaps_ > firstSharedRegion && gaps_ > count_ / 2) {
            closeGaps(memory);
        }
        return true;
    }

    void closeGaps(Memory& memory) noexcept {
        std::size_t to = 0;
        for (std::size_t from = 0; from < count_; ++from) {
            if (entries_[from] != nullptr) {
                entries_[to++] = entries_[from];
            }
        }
        count_ = to;
        gaps_ = 0;
        if (index_ != nullptr) {
            fillIndex();
        }
        if (room_ > 4 * firstSharedRegion && count_ < room_ / 4) {
            resize(room_ / 2, memory); // if it cannot be, the larger one serves as well
        }
    }

    void fillIndex() noexcept {
        std::memset(index_, 0, (mask_ + 1) * sizeof *index_);
        for (std::size_t at = 0; at < count_; ++at) {
            if (entries_[at] != nullptr) {
                enter(entries_[at], at);
            }
        }
    }

    /// For as many entries as `room`. Pre: there is none.
    bool makeIndex(std::size_t room, Memory& memory) noexcept {
        if (room > UINT32_MAX / 2) {
            return false;
        }
        index_ = static_cast<std::uint32_t*>(memory.malloc(2 * room * sizeof *index_));
        if (index_ == nullptr) {
            return false;
        }
        mask_ = 2 * room - 1;
        fillIndex();
        return true;
    }

    void dropIndex(Memory& memory) noexcept {
        if (index_ != nullptr) {
            memory.free(index_);
        }
        index_ = nullptr;
    }

    /// Out of line, as it is rare.
    [[gnu::noinline]] static bool makeRoom(ObjectRecord& record, Memory& memory) noexcept {
        return record.resize(record.room_ == 0 ? firstSharedRegion : 2 * record.room_, memory);
    }

    /// Moves the array to one of `room` entries; the index is made anew, when it is next wanted if
    /// there is no memory for it now.
    bool resize(std::size_t room, Memory& memory) noexcept {
        auto* const entries = static_cast<void**>(memory.malloc(room * sizeof(void*)));
        if (entries == nullptr) {
            return false;
        }
        if (entries_ != nullptr) {
            std::memcpy(entries, entries_, count_ * sizeof(void*));
            memory.free(entries_);
        }
        entries_ = entries;
        room_ = room;
        if (index_ != nullptr) {
            dropIndex(memory);
            makeIndex(room, memory);
        }
        return true;
    }

    void** entries_ = nullptr;       ///< null where one was struck off
    std::uint32_t* index_ = nullptr; ///< places and one, by the hash of the object; 0: none
    std::size_t count_ = 0;          ///< of entries, gaps included
    std::size_t room_ = 0;           ///< of the array: a power of two, or 0
    std::size_t gaps_ = 0;
    std::size_t mask_ = 0; ///< of the index
};

} // namespace heapwright
