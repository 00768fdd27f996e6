// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses settings as text, "name=value,name=value", without an allocation, for the first malloc of
// a process.
//
// Spaces are allowed around names, values and commas. A value is one of a few words, a number, a
// time, a number of bytes, or any text without a comma.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace heapwright {

/// One setting: its name and its value.
struct SettingText {
    std::string_view name;
    std::string_view value;
};

/// The first `count` characters of a text, and the rest. A shorter text is all in the first part.
/// (The functions of std::string_view may throw, and no caller could catch it.)
[[nodiscard]] constexpr std::string_view firstOf(std::string_view text,
                                                 std::size_t count) noexcept {
    return {text.data(), count < text.size() ? count : text.size()};
}
[[nodiscard]] constexpr std::string_view restOf(std::string_view text, std::size_t count) noexcept {
    text.remove_prefix(count < text.size() ? count : text.size());
    return text;
}

namespace detail {

[[nodiscard]] constexpr std::string_view withoutSpaces(std::string_view text) noexcept {
    constexpr std::string_view spaces = " \t\n";
    const std::size_t last = text.find_last_not_of(spaces);
    text = firstOf(text, last == std::string_view::npos ? 0 : last + 1);
    return restOf(text, text.find_first_not_of(spaces));
}

} // namespace detail

/// Runs `visit` on each setting in a text. A part without "=" is a name without a value.
template <class Visit>
constexpr void forEachSetting(std::string_view text, Visit visit) {
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view part = detail::withoutSpaces(firstOf(text, comma));
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
        if (part.empty()) {
            continue;
        }
        const std::size_t equals = part.find('=');
        const bool has = equals != std::string_view::npos;
        visit(SettingText{detail::withoutSpaces(firstOf(part, equals)),
                          has ? detail::withoutSpaces(restOf(part, equals + 1)) : ""});
    }
}

/// A word and the value that it stands for.
template <class Value>
using Choice = std::pair<std::string_view, Value>;

template <class Value, std::size_t Count>
[[nodiscard]] constexpr std::optional<Value>
chosen(std::string_view text, const std::array<Choice<Value>, Count>& choices) noexcept {
    for (const auto& [word, value] : choices) {
        if (text == word) {
            return value;
        }
    }
    return std::nullopt;
}

/// The most that a setting can state: each whole number up to here is one of JSON, too.
inline constexpr std::uint64_t largestSetting = std::uint64_t{1} << 53U;

/// A decimal number of at most `most`.
/// Pre: `most` is at most `largestSetting`.
[[nodiscard]] constexpr std::optional<std::uint64_t> wholeNumber(std::string_view text,
                                                                 std::uint64_t most) noexcept {
    std::uint64_t number = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9') {
            return std::nullopt;
        }
        number = number * 10 + static_cast<unsigned>(digit - '0');
        if (number > most) {
            return std::nullopt;
        }
    }
    return text.empty() ? std::nullopt : std::optional(number);
}

/// A decimal number that fits into 32 bits.
[[nodiscard]] constexpr std::optional<std::uint32_t> wholeNumber(std::string_view text) noexcept {
    const auto number = wholeNumber(text, UINT32_MAX);
    return number ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

/// A time in milliseconds, from "250ms", "2s" or "5min". Less than the value for "never".
[[nodiscard]] constexpr std::optional<std::uint32_t> milliseconds(std::string_view text) noexcept {
    constexpr std::array<Choice<std::uint32_t>, 3> units = {
        {{"ms", 1}, {"s", 1000}, {"min", 60'000}}};
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
        ++digits;
    }
    const auto number = wholeNumber(firstOf(text, digits));
    const auto unit = chosen(restOf(text, digits), units);
    if (!number || !unit || std::uint64_t{*number} * *unit >= UINT32_MAX) {
        return std::nullopt;
    }
    return *number * *unit;
}

/// A number of bytes from 1 to 2^53, as "4096", "512K", "4M", "2G" or "1T".
[[nodiscard]] constexpr std::optional<std::uint64_t> byteCount(std::string_view text) noexcept {
    constexpr std::string_view letters = "KMGT";
    const std::size_t letter =
        text.empty() ? std::string_view::npos : letters.find(text[text.size() - 1]);
    const bool plain = letter == std::string_view::npos;
    const std::uint64_t unit = plain ? 1 : std::uint64_t{1024} << (10 * letter);
    const auto number =
        wholeNumber(firstOf(text, plain ? text.size() : text.size() - 1), largestSetting / unit);
    if (!number || *number == 0) {
        return std::nullopt;
    }
    return *number * unit;
}

} // namespace heapwright
