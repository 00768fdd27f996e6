// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes a composition from its type, as JSON. Each heap names the heaps below it (`Below`) and
// states in one clause what it does to a request (`caption`). Its name and its policies come from
// the compiler's spelling of the type.
// Cost: none at run time. The text is built at compile time and lies in read-only memory.
//
//   {"layer":"LockedHeap","policies":["FutexLock"],"caption":"...","below":[{...}]}
#pragma once

#include <heapwright/core/prefix.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace heapwright {

/// The heaps below a heap, in the order of the template parameters that name them.
template <class... H>
struct Heaps {};

namespace detail {

template <class T>
consteval std::string_view rawSpelling() {
    return __PRETTY_FUNCTION__;
}

/// The compiler's spelling of a type, with its namespaces.
template <class T>
consteval std::string_view spelling() {
    constexpr std::string_view sample = rawSpelling<double>();
    constexpr std::size_t before = sample.find("double");
    constexpr std::size_t whole = rawSpelling<T>().size();
    return rawSpelling<T>().substr(before, whole - (sample.size() - 6));
}

/// Writes text into a buffer, or only counts the characters if the buffer is null.
class JsonWriter {
public:
    constexpr explicit JsonWriter(char* out) : out_(out) {}

    constexpr void put(char c) {
        if (out_ != nullptr) {
            out_[length_] = c;
        }
        ++length_;
    }
    constexpr void put(std::string_view text) {
        for (const char c : text) {
            put(c);
        }
    }
    constexpr void putQuoted(std::string_view text) {
        put('"');
        for (const char c : text) {
            if (c == '"' || c == '\\') {
                put('\\');
            }
            put(c);
        }
        put('"');
    }
    [[nodiscard]] constexpr std::size_t length() const { return length_; }

private:
    char* out_;
    std::size_t length_ = 0;
};

constexpr bool isDigit(char c) {
    return c >= '0' && c <= '9';
}
constexpr bool isWord(char c) {
    return isDigit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr void putDecimal(JsonWriter& out, std::size_t value) {
    if (value >= 10) {
        putDecimal(out, value / 10);
    }
    out.put(static_cast<char>('0' + value % 10));
}

/// Writes 131072 as 128 KiB. A number that is not a multiple of 1024 is written as it is.
constexpr void putNumber(JsonWriter& out, std::size_t value) {
    constexpr std::array<std::string_view, 4> units = {"", " KiB", " MiB", " GiB"};
    std::size_t unit = 0;
    while (value != 0 && value % 1024 == 0 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    putDecimal(out, value);
    out.put(units[unit]);
}

/// The length of the unnamed-namespace qualifier at the start of `text`, in the spelling of either
/// compiler; 0 if there is none.
constexpr std::size_t unnamedQualifier(std::string_view text) {
    for (const std::string_view name : {"{anonymous}::", "(anonymous namespace)::"}) {
        if (beginsWith(text, name)) {
            return name.size();
        }
    }
    return 0;
}

/// Copies a spelling without its qualifiers and with numbers in KiB, MiB or GiB.
constexpr void putSpelling(JsonWriter& out, std::string_view text) {
    std::size_t i = 0;
    while (i < text.size()) {
        const std::size_t unnamed = unnamedQualifier(text.substr(i));
        if (unnamed != 0) {
            i += unnamed;
            continue;
        }
        if (!isWord(text[i])) {
            out.put(text[i++]);
            continue;
        }
        const std::size_t start = i;
        while (i < text.size() && isWord(text[i])) {
            ++i;
        }
        const std::string_view word = text.substr(start, i - start);
        if (text.substr(i, 2) == "::") {
            i += 2; // a qualifier
        } else if (isDigit(word[0])) {
            std::size_t value = 0;
            for (const char c : word) {
                value = isDigit(c) ? value * 10 + static_cast<std::size_t>(c - '0') : value;
            }
            putNumber(out, value);
        } else {
            out.put(word);
        }
    }
}

/// Calls `visit` with each top-level template argument of a spelling.
template <class Visit>
constexpr void forEachArgument(std::string_view type, Visit visit) {
    const std::size_t open = type.find('<');
    if (open == std::string_view::npos) {
        return;
    }
    std::size_t depth = 0;
    std::size_t start = open + 1;
    for (std::size_t i = open + 1; i < type.size(); ++i) {
        const char c = type[i];
        const bool last = depth == 0 && c == '>';
        if ((depth == 0 && c == ',') || last) {
            while (start < i && type[start] == ' ') {
                ++start;
            }
            std::size_t end = i;
            while (end > start && type[end - 1] == ' ') {
                --end;
            }
            visit(type.substr(start, end - start));
            start = i + 1;
        }
        if (last) {
            return;
        }
        depth += c == '<' || c == '(' || c == '{' ? 1U : 0U;
        depth -= c == '>' || c == ')' || c == '}' ? 1U : 0U;
    }
}

template <class H>
constexpr void writeHeap(JsonWriter& out);

template <class H, class... B>
constexpr void writeHeap(JsonWriter& out, Heaps<B...>) {
    constexpr std::string_view type = spelling<H>();
    out.put("{\"layer\":\"");
    putSpelling(out, type.substr(0, type.find('<')));
    out.put("\",\"policies\":[");
    bool first = true;
    forEachArgument(type, [&](std::string_view argument) {
        if (((argument == spelling<B>()) || ...)) {
            return;
        }
        out.put(first ? "\"" : ",\"");
        putSpelling(out, argument);
        out.put('"');
        first = false;
    });
    out.put("],\"caption\":");
    out.putQuoted(H::caption);
    out.put(",\"below\":[");
    first = true;
    ((out.put(first ? "" : ","), first = false, writeHeap<B>(out)), ...);
    out.put("]}");
}

template <class H>
constexpr void writeHeap(JsonWriter& out) {
    writeHeap<H>(out, typename H::Below{});
}

template <class H>
consteval std::size_t descriptionLength() {
    JsonWriter counter(nullptr);
    writeHeap<H>(counter);
    return counter.length();
}

template <class H>
consteval auto makeDescription() {
    std::array<char, descriptionLength<H>() + 1> text{};
    JsonWriter writer(text.data());
    writeHeap<H>(writer);
    return text;
}

template <class H>
inline constexpr auto description = makeDescription<H>();

} // namespace detail

/// The layers of `H` as a JSON tree.
/// Post: a null byte follows the text.
template <class H>
[[nodiscard]] constexpr std::string_view describe() {
    return {detail::description<H>.data(), detail::description<H>.size() - 1};
}

} // namespace heapwright
