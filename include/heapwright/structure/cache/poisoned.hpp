// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A freed object, filled with a poison, in one word: its address, and above that how many eighths
// of its size are poison. The word is written at once, so that a fork of another thread never finds
// half of it. The up to seven bytes behind the last whole word are left as they are.
#pragma once

#include <heapwright/core/address.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright {

class Poisoned {
public:
    /// What an object is filled with; as a pointer it leads nowhere.
    static constexpr unsigned char poison = 0xF5;
    /// The largest size that can be told.
    static constexpr std::size_t largest = 0xFFFF * sizeof(std::uint64_t);

    /// None.
    constexpr Poisoned() noexcept = default;

    /// Fills an object. Pre: its address lies below 2^48, its size is not beyond the largest.
    Poisoned(void* object, std::size_t size) noexcept
        : word_(addressOf(object) | (std::uint64_t{size / unit} << addressBits)) {
        std::memset(object, poison, this->size());
    }

    /// What is in a place now, though a thread of its own may write there. ThreadSanitizer need not
    /// tell of that.
    [[nodiscard, gnu::noinline]] __attribute__((no_sanitize("thread"))) static Poisoned
    seenIn(const Poisoned& place) noexcept {
        Poisoned seen;
        seen.word_ = *static_cast<const volatile std::uint64_t*>(&place.word_);
        return seen;
    }

    [[nodiscard]] bool isNone() const noexcept { return word_ == 0; }
    [[nodiscard]] void* object() const noexcept {
        return pointerTo(word_ & ((std::uint64_t{1} << addressBits) - 1));
    }
    /// How many of its bytes are poison.
    [[nodiscard]] std::size_t size() const noexcept { return (word_ >> addressBits) * unit; }

    /// Whether nobody has written to it.
    [[nodiscard]] bool isIntact() const noexcept {
        const auto* const bytes = static_cast<const unsigned char*>(object());
        return size() == 0 ||
               (looksSo(bytes, size()) && std::memcmp(bytes, bytes + unit, size() - unit) == 0);
    }

    /// Whether an object begins as a poisoned one does.
    [[nodiscard]] static bool looksSo(const void* object, std::size_t size) noexcept {
        std::uint64_t first = 0;
        if (size < unit) {
            return false;
        }
        std::memcpy(&first, object, unit);
        return first == wholeWord;
    }

    /// So that it does not look like one any more, whatever is left of it.
    void unmark() const noexcept {
        if (size() != 0) {
            std::memset(object(), 0, unit);
        }
    }

private:
    static constexpr unsigned addressBits = 48;
    static constexpr std::size_t unit = sizeof(std::uint64_t);
    static constexpr std::uint64_t wholeWord = 0x0101010101010101U * poison;

    std::uint64_t word_ = 0;
};

} // namespace heapwright
