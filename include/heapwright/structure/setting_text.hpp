// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Settings as text, "name=value,name=value": taken apart and understood without an allocation, for
// what is read at the first malloc of a process.
//
// Between names and values and around commas spaces may stand. A value is one of a few words, a
// number, a time, or any text without a comma.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace heapwright {

/// One setting: its name, and what it is set to.
struct SettingText {
    std::string_view name;
    std::string_view value;
};

namespace detail {

[[nodiscard]] constexpr std::string_view withoutSpaces(std::string_view text) noexcept {
    constexpr std::string_view spaces = " \t\n";
    const std::size_t first = text.find_first_not_of(spaces);
    return first == std::string_view::npos
               ? std::string_view{}
               : text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

} // namespace detail

/// Runs `visit` on each setting in a text; a part without "=" is a name without a value.
template <class Visit>
constexpr void forEachSetting(std::string_view text, Visit visit) {
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view part = detail::withoutSpaces(text.substr(0, comma));
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
        if (part.empty()) {
            continue;
        }
        const std::size_t equals = part.find('=');
        const bool has = equals != std::string_view::npos;
        visit(SettingText{detail::withoutSpaces(part.substr(0, equals)),
                          has ? detail::withoutSpaces(part.substr(equals + 1)) : ""});
    }
}

/// A word and what it stands for.
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

/// A whole number in decimal digits that fits.
[[nodiscard]] constexpr std::optional<std::uint32_t> wholeNumber(std::string_view text) noexcept {
    std::uint64_t number = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9') {
            return std::nullopt;
        }
        number = number * 10 + static_cast<unsigned>(digit - '0');
        if (number > UINT32_MAX) {
            return std::nullopt;
        }
    }
    return text.empty() ? std::nullopt : std::optional(static_cast<std::uint32_t>(number));
}

/// A time as milliseconds, "250ms", "2s" or "5min"; less than what stands for "never".
[[nodiscard]] constexpr std::optional<std::uint32_t> milliseconds(std::string_view text) noexcept {
    constexpr std::array<Choice<std::uint32_t>, 3> units = {
        {{"ms", 1}, {"s", 1000}, {"min", 60'000}}};
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
        ++digits;
    }
    const auto number = wholeNumber(text.substr(0, digits));
    const auto unit = chosen(text.substr(digits), units);
    if (!number || !unit || std::uint64_t{*number} * *unit >= UINT32_MAX) {
        return std::nullopt;
    }
    return *number * *unit;
}

} // namespace heapwright
