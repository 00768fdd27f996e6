// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A return address is the byte behind a call, which may already belong to another function. The row
// of the byte before it is used.
#include "rows.hpp"

#include "cfi.hpp"
#include "readable.hpp"

namespace heapwright::recorder::stacks {

namespace {

constexpr std::uint64_t lowest = 4096;
constexpr std::uint64_t beyond = std::uint64_t{1} << 47U;
constexpr Row foreignRow{Row::Base::foreign, Row::Saved::same, 0, 0};

Row rowIn(const Image& image, [[maybe_unused]] std::uint64_t address) {
#ifdef __x86_64__
    return findRow(image, address).value_or(framePointerRow);
#else
    static_cast<void>(image);
    return framePointerRow;
#endif
}

} // namespace

ShortRow Rows::learn(std::uint64_t returnAddress) noexcept {
    if (const ShortRow known = cache_.findAgain(returnAddress); known != noRow) {
        return known;
    }
    if (returnAddress - lowest >= beyond - lowest) {
        return cache_.shorten(foreignRow);
    }
    const std::uint64_t address = returnAddress - 1;
    Image image;
    switch (modules_.find(address, image)) {
    case ModuleTable::Found::later:
        return cache_.shorten(rowIn(image, address));
    case ModuleTable::Found::yes: {
        const ShortRow row = cache_.shorten(rowIn(image, address));
        cache_.add(returnAddress, row);
        return row;
    }
    default:
        break;
    }
    const bool code = isReadable(address & ~std::uint64_t{7});
    const ShortRow row = cache_.shorten(code ? framePointerRow : foreignRow);
    cache_.add(returnAddress, row);
    return row;
}

} // namespace heapwright::recorder::stacks
