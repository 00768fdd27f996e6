// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See source_lines.hpp.
#include "trace/source_lines.hpp"

#include <algorithm>

namespace heapwright::trace {

namespace {

/// The numbers of a table, which have six bits a byte, the lowest first. Bit 6: more follow.
class Numbers {
public:
    explicit Numbers(std::string_view bytes) : bytes_(bytes) {}

    bool empty() const { return at_ >= bytes_.size(); }
    bool failed() const { return failed_; }

    std::uint8_t byte() {
        if (empty()) {
            failed_ = true;
            return 0;
        }
        return static_cast<std::uint8_t>(bytes_[at_++]);
    }

    std::uint32_t number() {
        std::uint32_t value = 0;
        unsigned shift = 0;
        std::uint8_t part = 0;
        do {
            part = byte();
            value |= shift < 30 ? (part & 0x3FU) << shift : 0;
            shift += 6;
        } while ((part & 0x40U) != 0);
        return value;
    }

    std::int64_t signedNumber() {
        const std::uint32_t value = number();
        const auto size = static_cast<std::int64_t>(value >> 1U);
        return (value & 1U) != 0 ? -size : size;
    }

    void skip(unsigned bytes) {
        for (; bytes > 0; --bytes)
            byte();
    }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

constexpr unsigned oneLine = 10; ///< the first of three forms
constexpr unsigned noColumns = 13;
constexpr unsigned longForm = 14;
constexpr unsigned noLine = 15;

/// By how much an entry changes the line.
std::int64_t lineChange(unsigned form, Numbers& numbers) {
    std::int64_t change = 0;
    if (form < oneLine) {
        numbers.skip(1);
    } else if (form < noColumns) {
        change = form - oneLine;
        numbers.skip(2);
    } else if (form == noColumns) {
        change = numbers.signedNumber();
    } else if (form == longForm) {
        change = numbers.signedNumber();
        numbers.number();
        numbers.number();
        numbers.number();
    }
    return change;
}

} // namespace

SourceLines::SourceLines(std::uint32_t first, std::string_view table) {
    constexpr std::int64_t beyond = std::int64_t{1} << 32;
    add(0, first);
    Numbers numbers(table);
    std::int64_t line = first;
    std::uint32_t place = 1;
    while (!numbers.empty()) {
        const std::uint8_t head = numbers.byte();
        const unsigned form = head >> 3U & 15U;
        line += lineChange(form, numbers);
        if ((head & 0x80U) == 0 || numbers.failed() || line < 0 || line >= beyond)
            break;
        add(place, form == noLine ? 0 : static_cast<std::uint32_t>(line));
        place += (head & 7U) + 1;
    }
    add(place, 0);
}

void SourceLines::add(std::uint32_t begin, std::uint32_t line) {
    if (runs_.empty() || runs_.back().line != line)
        runs_.push_back({begin, line});
}

std::uint32_t SourceLines::at(std::uint64_t place) const {
    const auto found =
        std::upper_bound(runs_.begin(), runs_.end(), place,
                         [](std::uint64_t wanted, const Run& run) { return wanted < run.begin; });
    return found != runs_.begin() ? (found - 1)->line : 0;
}

} // namespace heapwright::trace
