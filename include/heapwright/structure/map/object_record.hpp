// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A record of the objects that its owner holds. It never reads or writes an object. The addresses
// are in an array in the order of their addition, so that all objects can be freed newest first.
//
// A search visits the newest few. The first search that fails there builds an index of all, a hash
// table of places, which is then kept. A removed object leaves a gap. The array is compacted when
// half of it are gaps.
// Invariant: the last entry is no gap. The index, if it exists, has a place for each entry that is
// no gap, and is at most half full.
// Cost: 8 bytes for each object, 16 to 24 with an index; amortised constant time.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/random.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright {

/// `Memory`, an argument of each call, allocates the array and the index.
template <Heap Memory>
class ObjectRecord {
    static constexpr std::size_t firstSharedRegion = 32;
    static constexpr std::size_t newest = 4; ///< number of entries searched without an index

public:
    constexpr ObjectRecord() noexcept = default;

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

    /// Adds an object. Returns false, and changes nothing, if there is no memory.
    /// Pre: it is not in the record.
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

    /// The result of `placeOf` for an object that is not in the record.
    static constexpr std::size_t nowhere = ~std::size_t{0};

    /// The place of an object, valid until the next addition or removal.
    [[nodiscard]] std::size_t placeOf(const void* object, Memory& memory) noexcept {
        for (std::size_t back = 1; back <= newest && back <= count_; ++back) {
            if (entries_[count_ - back] == object) {
                return count_ - back;
            }
        }
        return count_ <= newest ? nowhere : find(object, memory);
    }

    /// Removes an object; false if it is not in the record.
    [[nodiscard]] bool remove(const void* object, Memory& memory) noexcept {
        const std::size_t place = placeOf(object, memory);
        return place != nowhere && removeAt(place, memory);
    }

    /// Puts another object into a place.
    /// Pre: that is not in the record.
    void replace(std::size_t place, void* other) noexcept {
        if (index_ != nullptr) {
            leave(entries_[place]);
            enter(other, place);
        }
        entries_[place] = other;
    }

    /// Calls `release` with each object, newest first, removes them and frees the memory.
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

    /// Whether `holds` is true for any object. Newest first.
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

    /// The place of an object that is not among the newest. Without memory for an index, a linear
    /// search.
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

    /// The slot of an object, or the empty slot where it would be inserted.
    [[nodiscard]] std::size_t slotOf(const void* object) const noexcept {
        std::size_t slot = hash(object) & mask_;
        while (index_[slot] != 0 && entries_[index_[slot] - 1] != object) {
            slot = (slot + 1) & mask_;
        }
        return slot;
    }

    /// Pre: the object is not in the index.
    void enter(const void* object, std::size_t place) noexcept {
        std::size_t slot = hash(object) & mask_;
        while (index_[slot] != 0) {
            slot = (slot + 1) & mask_;
        }
        index_[slot] = static_cast<std::uint32_t>(place + 1);
    }

    /// Removes an entry from the index and moves displaced entries into the hole.
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
            resize(room_ / 2, memory); // if that fails, the larger array stays
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

    /// Builds the index for an array of `room` entries.
    /// Pre: there is none.
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

    /// Out of line, because it is rare.
    [[gnu::noinline]] static bool makeRoom(ObjectRecord& record, Memory& memory) noexcept {
        return record.resize(record.room_ == 0 ? firstSharedRegion : 2 * record.room_, memory);
    }

    /// Moves the array to one of `room` entries and rebuilds the index. Without memory for the
    /// index, the next search builds it.
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

    void** entries_ = nullptr;       ///< null where one was removed
    std::uint32_t* index_ = nullptr; ///< place plus one, by the hash of the object; 0: none
    std::size_t count_ = 0;          ///< number of entries, including gaps
    std::size_t room_ = 0;           ///< size of the array: a power of two, or 0
    std::size_t gaps_ = 0;
    std::size_t mask_ = 0; ///< size of the index minus one
};

} // namespace heapwright
