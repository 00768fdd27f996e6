// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See perf_map.hpp.
#include "perf_map.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

namespace heapwright::recorder::launch {

namespace {

constexpr std::size_t longestLine = 4096;
constexpr std::size_t longestName = 1024;
constexpr std::uint64_t largestCode = std::uint64_t{1} << 32U;
constexpr std::uint64_t beyond = std::uint64_t{1} << 47U;

/// Takes a hexadecimal number and the space behind it from the front of a line.
std::optional<std::uint64_t> takeNumber(std::string_view& line) {
    if (line.substr(0, 2) == "0x") {
        line.remove_prefix(2);
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
    if (error != std::errc() || end == line.data() + line.size() || *end != ' ') {
        return std::nullopt;
    }
    line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
    return value;
}

/// The function of a line; its name stays in the line.
struct Entry {
    std::uint64_t begin;
    std::uint64_t end;
    std::string_view name;
};

std::optional<Entry> parse(std::string_view line) {
    const std::optional<std::uint64_t> begin = takeNumber(line);
    const std::optional<std::uint64_t> size = begin ? takeNumber(line) : std::nullopt;
    if (!size || *size == 0 || *size > largestCode || *begin >= beyond || line.empty()) {
        return std::nullopt;
    }
    return Entry{*begin, std::min(*begin + *size, beyond), line.substr(0, longestName)};
}

} // namespace

std::vector<MappedCode> readPerfMap(std::FILE* file, const std::vector<std::uint64_t>& addresses) {
    std::map<std::uint64_t, MappedCode> found; // by address
    char line[longestLine];
    bool continued = false; // the line is the rest of one that was too long
    while (std::fgets(line, sizeof line, file) != nullptr) {
        const std::size_t length = std::strlen(line);
        const bool whole = length > 0 && line[length - 1] == '\n';
        const bool skipped = continued;
        continued = !whole && length == sizeof line - 1;
        const std::optional<Entry> entry =
            skipped ? std::nullopt : parse(std::string_view(line, whole ? length - 1 : length));
        if (!entry) {
            continue;
        }
        for (auto at = std::lower_bound(addresses.begin(), addresses.end(), entry->begin);
             at != addresses.end() && *at < entry->end; ++at) {
            found.insert_or_assign(*at,
                                   MappedCode{entry->begin, entry->end, std::string(entry->name)});
        }
    }
    std::vector<MappedCode> codes;
    for (auto& [address, code] : found) {
        if (!codes.empty() && codes.back().end > code.begin) {
            if (codes.back().begin == code.begin && codes.back().name == code.name) {
                continue;
            }
            // They overlap, as memory was used again: each keeps the part with its addresses.
            codes.back().end = std::min(codes.back().end, address);
            code.begin = address;
        }
        codes.push_back(std::move(code));
    }
    return codes;
}

} // namespace heapwright::recorder::launch
