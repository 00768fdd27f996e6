// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the description of a function from an address. It uses the search table of .eh_frame_hdr,
// in the one encoding that linkers write. The table leads to the frame description entry, which
// refers to the common entry.
#include "cfi.hpp"

#include "bytes.hpp"
#include "cfi_program.hpp"

#include <cstring>

namespace heapwright::recorder::stacks {

namespace {

// How addresses are written (the Linux Standard Base calls them DW_EH_PE_…).
constexpr std::uint8_t absolute = 0x00;
constexpr std::uint8_t uleb128 = 0x01;
constexpr std::uint8_t unsigned2 = 0x02;
constexpr std::uint8_t unsigned4 = 0x03;
constexpr std::uint8_t unsigned8 = 0x04;
constexpr std::uint8_t sleb128 = 0x09;
constexpr std::uint8_t signed2 = 0x0a;
constexpr std::uint8_t signed4 = 0x0b;
constexpr std::uint8_t signed8 = 0x0c;
constexpr std::uint8_t fromHere = 0x10;
constexpr std::uint8_t fromTable = 0x30;
constexpr std::uint8_t omitted = 0xff;

std::uint64_t extended(std::int64_t number) {
    return static_cast<std::uint64_t>(number);
}

/// A number in the format of an encoding's lower half.
std::uint64_t takeFormat(Bytes& bytes, std::uint8_t encoding) {
    switch (encoding & 0x0fU) {
    case absolute:
    case unsigned8:
    case signed8:
        return bytes.take<std::uint64_t>();
    case uleb128:
        return bytes.uleb();
    case unsigned2:
        return bytes.take<std::uint16_t>();
    case unsigned4:
        return bytes.take<std::uint32_t>();
    case sleb128:
        return extended(bytes.sleb());
    case signed2:
        return extended(bytes.take<std::int16_t>());
    case signed4:
        return extended(bytes.take<std::int32_t>());
    default:
        bytes.fail();
        return 0;
    }
}

/// An address, which is absolute or counted from where it stands.
std::uint64_t takeAddress(Bytes& bytes, std::uint8_t encoding) {
    const auto here = reinterpret_cast<std::uint64_t>(bytes.at());
    const std::uint64_t number = takeFormat(bytes, encoding);
    switch (encoding & 0xf0U) {
    case absolute:
        return number;
    case fromHere:
        return here + number;
    default:
        bytes.fail();
        return 0;
    }
}

/// An entry's bytes behind its length; empty at the end of the table, and in 64-bit DWARF.
Bytes entryAt(const Image& image, const std::uint8_t* at) {
    if (at < image.segment || at >= image.segmentEnd) {
        return {};
    }
    Bytes bytes(at, image.segmentEnd);
    const auto length = bytes.take<std::uint32_t>();
    return length == 0xFFFF'FFFFU ? Bytes() : bytes.cut(length);
}

/// What the augmentation says, letter by letter; false if it says something not known here.
bool takeAugmentation(Bytes& entry, const char* letters, CfiTerms& terms) {
    Bytes data = entry.cut(entry.uleb());
    for (; *letters != '\0'; ++letters) {
        switch (*letters) {
        case 'R':
            terms.encoding = data.take<std::uint8_t>();
            break;
        case 'P': {
            const auto encoding = data.take<std::uint8_t>();
            if (encoding != omitted) {
                takeFormat(data, encoding);
            }
            break;
        }
        case 'L':
            data.take<std::uint8_t>();
            break;
        case 'S':
            terms.signal = true;
            break;
        default:
            return false;
        }
    }
    return !data.failed();
}

/// The terms of a common entry; `entry` is left at its instructions.
bool takeTerms(Bytes& entry, CfiTerms& terms) {
    if (entry.take<std::uint32_t>() != 0) {
        return false; // this is no common entry
    }
    const auto version = entry.take<std::uint8_t>();
    const auto* const letters = reinterpret_cast<const char*>(entry.at());
    while (entry.take<std::uint8_t>() != 0) {
    }
    terms.codeStep = entry.uleb();
    terms.dataStep = entry.sleb();
    terms.returnRegister = version == 1 ? entry.take<std::uint8_t>() : entry.uleb();
    if (entry.failed() || (version != 1 && version != 3)) {
        return false;
    }
    terms.augmented = *letters == 'z';
    return *letters == '\0' || (terms.augmented && takeAugmentation(entry, letters + 1, terms));
}

/// Where the search table says that the description of an address is; null if nowhere.
const std::uint8_t* search(const Image& image, std::uint64_t address) {
    constexpr std::uint64_t headLength = 12;
    constexpr std::uint64_t rowLength = 8;
    Bytes head(image.table, image.segmentEnd);
    const auto version = head.take<std::uint8_t>();
    const auto pointer = head.take<std::uint8_t>();
    const auto counting = head.take<std::uint8_t>();
    const auto encoding = head.take<std::uint8_t>();
    head.take<std::uint32_t>();
    const auto count = head.take<std::uint32_t>();
    if (head.failed() || version != 1 || (pointer & 0x0fU) != signed4 || counting != unsigned4 ||
        encoding != (fromTable | signed4)) {
        return nullptr;
    }
    const std::uint8_t* const rows = image.table + headLength;
    const auto room = static_cast<std::uint64_t>(image.segmentEnd - rows) / rowLength;
    const auto base = reinterpret_cast<std::uint64_t>(image.table);
    const auto number = [rows](std::uint64_t row, std::uint64_t column) {
        std::int32_t value = 0;
        std::memcpy(&value, rows + row * rowLength + column, sizeof value);
        return std::int64_t{value};
    };
    const auto relative = static_cast<std::int64_t>(address - base);
    std::uint64_t low = 0;
    std::uint64_t high = count < room ? count : room;
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (number(middle, 0) <= relative) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? nullptr : image.table + number(low - 1, 4);
}

} // namespace

std::optional<Row> findRow(const Image& image, std::uint64_t address) noexcept {
    if (image.table == nullptr) {
        return std::nullopt;
    }
    const std::uint8_t* const at = search(image, address);
    Bytes description = at != nullptr ? entryAt(image, at) : Bytes();
    const std::uint8_t* const here = description.at();
    const auto distance = description.take<std::uint32_t>();
    if (description.failed() || distance > static_cast<std::uint64_t>(here - image.segment)) {
        return std::nullopt;
    }
    CfiTerms terms;
    Bytes common = entryAt(image, here - distance);
    if (!takeTerms(common, terms)) {
        return std::nullopt;
    }
    const std::uint64_t begin = takeAddress(description, terms.encoding);
    const std::uint64_t length = takeFormat(description, terms.encoding);
    if (terms.augmented) {
        description.cut(description.uleb());
    }
    if (description.failed() || address - begin >= length) {
        return std::nullopt;
    }
    CfiProgram program(terms, begin);
    program.runInitial(common);
    program.run(description, address);
    return program.row();
}

} // namespace heapwright::recorder::stacks
