// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A freed object filled with a poison, in one word. The lower 16 bits are the number of poisoned
// 8-byte words, and the others its address. The word is written at once, so that a fork by another
// thread never finds half of it. Up to seven bytes after the last whole word are not changed.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/object/short_fill.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright {

class Poisoned {
public:
    /// The fill of an object. As a pointer it is no valid address.
    static constexpr unsigned char poison = 0xF5;
    /// The largest size that the word can hold.
    static constexpr std::size_t largest = 0xFFFF * sizeof(std::uint64_t);

    /// No object.
    constexpr Poisoned() noexcept = default;

    /// Fills an object.
    /// Pre: its address is below 2^48, and its size is at most `largest`.
    [[gnu::always_inline]] Poisoned(void* object, std::size_t size) noexcept
        : word_((addressOf(object) << sizeBits) | (size / unit)) {
        ShortFill::fill(object, poison, size / unit * unit);
    }

    /// The present value of a place, which its thread may change meanwhile. Hidden from
    /// ThreadSanitizer.
    [[nodiscard, gnu::noinline]] __attribute__((no_sanitize("thread"))) static Poisoned
    seenIn(const Poisoned& place) noexcept {
        Poisoned seen;
        seen.word_ = *static_cast<const volatile std::uint64_t*>(&place.word_);
        return seen;
    }

    [[nodiscard]] bool isNone() const noexcept { return word_ == 0; }
    [[nodiscard]] void* object() const noexcept { return pointerTo(word_ >> sizeBits); }
    /// The number of poisoned bytes.
    [[nodiscard]] std::size_t size() const noexcept { return (word_ & mostUnits) * unit; }

    /// Whether the poison is unchanged.
    [[nodiscard, gnu::always_inline]] bool isIntact() const noexcept {
        return size() == 0 || ShortFill::consistsOf(object(), poison, size());
    }

    /// Whether an object begins with the poison.
    [[nodiscard]] static bool looksSo(const void* object, std::size_t size) noexcept {
        std::uint64_t first = 0;
        if (size < unit) {
            return false;
        }
        std::memcpy(&first, object, unit);
        return first == wholeWord;
    }

    /// Removes the poison at the start, so that the object is no longer taken for a poisoned one.
    void unmark() const noexcept {
        if (size() != 0) {
            std::memset(object(), 0, unit);
        }
    }

private:
    static constexpr unsigned sizeBits = 16;
    static constexpr std::uint64_t mostUnits = (std::uint64_t{1} << sizeBits) - 1;
    static constexpr std::size_t unit = sizeof(std::uint64_t);
    static constexpr std::uint64_t wholeWord = 0x0101010101010101U * poison;

    std::uint64_t word_ = 0;
};

} // namespace heapwright
