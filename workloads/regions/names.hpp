// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Words in an arena, and tables in which each word is stored once.
#pragma once

#include "arenas.hpp"

#include <cstdint>
#include <cstring>

namespace heapwright::workloads {

/// Its bytes follow it, without a terminating null.
struct Word {
    std::uint32_t length;

    [[nodiscard]] const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
};

template <class Arena>
Word* copiedWord(Arena& arena, const char* bytes, std::size_t length) {
    auto* const text = static_cast<Word*>(arena.malloc(sizeof(Word) + length));
    text->length = static_cast<std::uint32_t>(length);
    std::memcpy(text + 1, bytes, length);
    return text;
}

/// A table of names, each stored once: open addressing, at most half full, doubled beyond.
template <class Arena>
class Names {
public:
    explicit Names(Arena& arena) : arena_(arena) { resize(16); }
    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;

    /// The name; stored at the first call.
    const Word* named(const char* bytes, std::size_t length) {
        if (2 * used_ >= room_) {
            resize(2 * room_);
        }
        Word*& slot = find(bytes, length);
        if (slot == nullptr) {
            slot = copiedWord(arena_, bytes, length);
            ++used_;
            ++objects_;
        }
        return slot;
    }

    /// For an arena that is not freed as a whole.
    void freeAll() {
        for (std::size_t at = 0; at < room_; ++at) {
            if (slots_[at] != nullptr) {
                arena_.free(slots_[at]);
            }
        }
        arena_.free(slots_);
    }

    [[nodiscard]] std::uint64_t objects() const { return objects_; }

private:
    static std::size_t hash(const char* bytes, std::size_t length) {
        std::uint64_t value = 0xcbf29ce484222325U;
        for (std::size_t at = 0; at < length; ++at) {
            value = (value ^ static_cast<unsigned char>(bytes[at])) * 0x100000001b3U;
        }
        return value;
    }

    Word*& find(const char* bytes, std::size_t length) {
        std::size_t at = hash(bytes, length) & (room_ - 1);
        while (slots_[at] != nullptr && (slots_[at]->length != length ||
                                         std::memcmp(slots_[at]->bytes(), bytes, length) != 0)) {
            at = (at + 1) & (room_ - 1);
        }
        return slots_[at];
    }

    void resize(std::size_t room) {
        Word** const before = slots_;
        const std::size_t many = room_;
        slots_ = static_cast<Word**>(arena_.malloc(room * sizeof(Word*)));
        ++objects_;
        room_ = room;
        std::memset(slots_, 0, room * sizeof(Word*));
        for (std::size_t at = 0; at < many; ++at) {
            if (before[at] != nullptr) {
                find(before[at]->bytes(), before[at]->length) = before[at];
            }
        }
        if (before != nullptr) {
            arena_.free(before);
        }
    }

    Arena& arena_;
    Word** slots_ = nullptr;
    std::size_t room_ = 0;
    std::size_t used_ = 0;
    std::uint64_t objects_ = 0;
};

} // namespace heapwright::workloads
