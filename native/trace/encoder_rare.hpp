// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the encoder does for fewer events: shapes that its table does not hold, routines beside
// malloc, new and free, and addresses that are no multiple of 16.
#pragma once

#include "trace/encoder.hpp"

namespace heapwright::trace {

inline void Encoder::finishNewShape(std::byte* tag, std::byte* at, unsigned bits,
                                    Rest rest) noexcept {
    const bool unknown = rest.usable == 0 && rest.size != 0;
    const std::uint64_t extra = rest.usable - rest.size;
    unsigned way = coding::shapeLarge;
    if (rest.size < (1U << 16) && (unknown || extra < coding::noneSmall)) {
        store(at, rest.size | ((unknown ? coding::noneSmall : extra) << 16));
        at += 3;
        way = coding::shapeSmall;
    } else if (rest.size >> 32 == 0 && (unknown || extra < coding::noneMedium)) {
        store(at, rest.size | ((unknown ? coding::noneMedium : extra) << 32));
        at += 7;
        way = coding::shapeMedium;
    } else {
        store(at, rest.size);
        store(at + 8, rest.usable);
        at += 16;
    }
    if (way != coding::shapeLarge && rest.usable >> 32 == 0) {
        const auto size = static_cast<std::uint32_t>(rest.size);
        shapes_.at(coding::ShapeTable::place(size, 0)) = {
            size, static_cast<std::uint32_t>(rest.usable), 0};
    }
    finish(tag, at, bits | (way << coding::shapeShift));
}

/// A shape that does not stand in the small table: from the larger one, or told.
inline void Encoder::finishOtherStack(std::byte* tag, std::byte* at, unsigned bits,
                                      Rest rest) noexcept {
    const bool unknown = rest.usable == 0 && rest.size != 0;
    const std::uint64_t extra = unknown ? coding::noneSmall : rest.usable - rest.size;
    const bool fits = rest.size < (1U << 16) && (unknown || extra < coding::noneSmall);
    if (!fits) [[unlikely]] {
        putLargeShape(at, rest);
        tables_.said(rest.stack);
        finish(tag, at, bits | (coding::shapeOther << coding::shapeShift));
        return;
    }
    const auto size = static_cast<std::uint32_t>(rest.size);
    shapes_.at(coding::ShapeTable::place(size, rest.stack)) = {
        size, static_cast<std::uint32_t>(rest.usable), rest.stack};
    const unsigned way = putSmallShape(at, rest, extra); // moves `at`
    finish(tag, at, bits | (way << coding::shapeShift));
}

inline unsigned Encoder::putSmallShape(std::byte*& at, const Rest& rest,
                                       std::uint64_t extra) noexcept {
    const auto size = static_cast<std::uint32_t>(rest.size);
    const std::uint64_t word = coding::StackTables::word(size, extra, rest.stack);
    const unsigned place = tables_.shapePlace(size, rest.stack);
    std::uint64_t& there = tables_.shapeAt(place);
    if (there == word) {
        store(at, place);
        at += 2;
        return coding::shapeRemembered;
    }
    there = word;
    std::byte* const first = at++;
    const bool wide = size > 0xFF;
    store(at, size);
    at += wide ? 2 : 1;
    const bool own = extra >= coding::extraByte;
    store(at, extra);
    at += own ? 1 : 0;
    const std::uint32_t distance = coding::zigzagStack(tables_.top(), rest.stack);
    const std::size_t length = distance >> 24 != 0 ? 4 : coding::fieldLength(distance);
    store(at, distance);
    at += length;
    tables_.said(rest.stack);
    *first = static_cast<std::byte>((length & 3) | (wide ? coding::wideSize : 0) |
                                    (own ? coding::extraByte : extra) << coding::extraShift);
    return coding::shapeNew;
}

/// What is large is told whole, each time.
inline void Encoder::putLargeShape(std::byte*& at, const Rest& rest) const noexcept {
    store(at, rest.size);
    store(at + 8, rest.usable);
    store(at + 16, rest.stack);
    at += 20;
}

inline bool Encoder::putAlignment(std::byte*& at, std::uint64_t alignment) noexcept {
    if (alignment == 0)
        return false;
    if (std::has_single_bit(alignment)) {
        *at++ = static_cast<std::byte>(std::countr_zero(alignment));
        return true;
    }
    *at++ = std::byte{255};
    store(at, alignment);
    at += 8;
    return true;
}

inline void Encoder::other(Routine routine, std::uint64_t time, std::uint64_t address,
                           const Rest& rest) noexcept {
    std::byte* const tag = cursor_;
    std::byte* at = tag + 2;
    const bool crooked = address % coding::grain != 0;
    unsigned second = static_cast<unsigned>(routine);
    second |= crooked ? coding::crooked : 0;
    second |= withStacks_ && isFar(address) ? coding::far : 0;
    unsigned bits = coding::formOther | (putTime(at, time) << coding::timeShift);
    bits |= putAnyAddress(at, address) << coding::addressShift;
    second |= putAlignment(at, rest.alignment) ? coding::hasAlignmentField : 0;
    tag[1] = static_cast<std::byte>(second);
    if (isAllocation(routine) && withStacks_)
        finishStack(tag, at, bits, rest);
    else if (isAllocation(routine))
        finishShape(tag, at, bits, rest);
    else
        finish(tag, at, bits);
}

inline void Encoder::unusualFree(Routine routine, std::uint64_t time,
                                 std::uint64_t address) noexcept {
    if (address != 0 || routine != Routine::free) {
        other(routine, time, address, {});
        return;
    }
    std::byte* const tag = cursor_;
    std::byte* at = tag + 1;
    // There is no address; its length is said as 1, so that no tag is ever zero.
    unsigned bits = coding::formFree | (coding::freeNull << coding::shapeShift);
    bits |= (putTime(at, time) << coding::timeShift) | (1U << coding::addressShift);
    finish(tag, at, bits);
}

inline void Encoder::reallocated(Routine routine, std::uint64_t began, std::uint64_t time,
                                 std::uint64_t old, std::uint64_t address, std::uint64_t size,
                                 std::uint64_t usable, std::uint32_t stack) noexcept {
    std::byte* const tag = cursor_;
    std::byte* at = tag + 3;
    const bool crooked = address % coding::grain != 0;
    const bool crookedOld = old % coding::grain != 0;
    unsigned bits = coding::formOther | (putTime(at, time) << coding::timeShift);
    unsigned second = static_cast<unsigned>(routine) | (crooked ? coding::crooked : 0);
    unsigned third = putField(at, began < time ? time - began : 0);
    third |= crookedOld ? coding::oldCrooked : 0;
    third |= withStacks_ && isFar(old) ? coding::oldFar : 0;
    third |= putAnyAddress(at, old) << coding::oldShift;
    second |= withStacks_ && isFar(address) ? coding::far : 0;
    bits |= putAnyAddress(at, address) << coding::addressShift;
    tag[1] = static_cast<std::byte>(second);
    tag[2] = static_cast<std::byte>(third);
    if (withStacks_)
        finishStack(tag, at, bits, {size, usable, 0, stack});
    else
        finishShape(tag, at, bits, {size, usable, 0, 0});
}

} // namespace heapwright::trace
