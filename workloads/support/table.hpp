// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A hash table in mapped memory, from a number other than 0 to a value: open addressing, linear
// probing, doubled when half full. Entries are never removed, because the observers remember the
// history of an address. Not thread-safe.
#pragma once

#include "memory.hpp"

#include <heapwright/core/random.hpp>

#include <cstdint>

namespace heapwright::workloads {

template <class Value>
class Table {
public:
    constexpr Table() = default;
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    /// The value of a key, zero-initialised at the first call.
    Value& operator[](std::uint64_t key) {
        if (2 * used_ >= room_) {
            grow();
        }
        Slot& slot = find(slots_, room_, key);
        if (slot.key == 0) {
            slot.key = key;
            ++used_;
        }
        return slot.value;
    }

    /// The value of a key in the table, or null.
    Value* lookUp(std::uint64_t key) {
        if (room_ == 0) {
            return nullptr;
        }
        Slot& slot = find(slots_, room_, key);
        return slot.key == 0 ? nullptr : &slot.value;
    }

    template <class Visitor>
    void each(Visitor visit) const {
        for (std::size_t at = 0; at < room_; ++at) {
            if (slots_[at].key != 0) {
                visit(slots_[at].key, slots_[at].value);
            }
        }
    }

private:
    struct Slot {
        std::uint64_t key;
        Value value;
    };

    static Slot& find(Slot* slots, std::size_t room, std::uint64_t key) {
        std::size_t at = Random::mixed(key) & (room - 1);
        while (slots[at].key != 0 && slots[at].key != key) {
            at = (at + 1) & (room - 1);
        }
        return slots[at];
    }

    void grow() {
        const std::size_t room = room_ == 0 ? 64 : 2 * room_;
        Slot* const slots = mapArray<Slot>(room);
        for (std::size_t at = 0; at < room_; ++at) {
            if (slots_[at].key != 0) {
                find(slots, room, slots_[at].key) = slots_[at];
            }
        }
        if (slots_ != nullptr) {
            unmapPages(slots_, room_ * sizeof(Slot));
        }
        slots_ = slots;
        room_ = room;
    }

    Slot* slots_ = nullptr;
    std::size_t room_ = 0; ///< a power of two, or 0
    std::size_t used_ = 0;
};

} // namespace heapwright::workloads
