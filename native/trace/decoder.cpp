// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The rarer parts of the decoder: routines other than malloc, new and free, new shapes, and the
// last events of a payload. The last events are read from a copy that is padded with zeros.
#include "trace/decoder.hpp"

#include <algorithm>

namespace heapwright::trace {

void BlockDecoder::begin(std::span<const std::byte> payload, unsigned stackBits, bool zeroEnds,
                         std::uint64_t firstTime) {
    start_ = at_ = payload.data();
    end_ = start_ + payload.size();
    safe_ = payload.size() > maxEventSize ? end_ - maxEventSize : start_;
    moved_ = 0;
    time_ = firstTime;
    base_ = 0;
    wrong_ = nullptr;
    withStacks_ = stackBits != 0;
    zeroEnds_ = zeroEnds;
    shapes_.clear();
    if (withStacks_) {
        memory_.resize(coding::StackTables::bytes(stackBits) / sizeof(std::uint64_t));
        tables_.begin(memory_.data(), stackBits);
    }
}

void BlockDecoder::newShape(Event& event, unsigned way) noexcept {
    event.stack = 0;
    if (way == coding::shapeSmall) {
        event.size = bytes(2);
        const std::uint64_t extra = bytes(1);
        event.usable = extra == coding::noneSmall ? 0 : event.size + extra;
    } else if (way == coding::shapeMedium) {
        event.size = bytes(4);
        const std::uint64_t extra = bytes(3);
        event.usable = extra == coding::noneMedium ? 0 : event.size + extra;
    } else {
        event.size = field(0);
        event.usable = field(0);
    }
    if (way == coding::shapeLarge || event.usable >> 32 != 0)
        return;
    const auto size = static_cast<std::uint32_t>(event.size);
    shapes_.at(coding::ShapeTable::place(size, 0)) = {size,
                                                      static_cast<std::uint32_t>(event.usable), 0};
}

/// A shape of a block with stacks that is not known from the small table.
void BlockDecoder::newStack(Event& event, unsigned way) noexcept {
    if (way == coding::shapeOther) {
        event.size = field(0);
        event.usable = field(0);
        event.stack = static_cast<std::uint32_t>(bytes(4));
        tables_.said(event.stack);
        return;
    }
    coding::Shape shape{};
    if (way == coding::shapeRemembered)
        shape = coding::StackTables::shape(tables_.shapeAt(bytes(2)));
    else
        shape = smallShape();
    event.size = shape.size;
    event.usable = shape.usable;
    event.stack = shape.stack;
    shapes_.at(coding::ShapeTable::place(shape.size, shape.stack)) = shape;
}

/// A shape in the short form. It is added to the larger table.
coding::Shape BlockDecoder::smallShape() noexcept {
    const auto first = static_cast<unsigned>(bytes(1));
    const std::uint64_t size = bytes((first & coding::wideSize) != 0 ? 2 : 1);
    std::uint64_t extra = first >> coding::extraShift;
    if (extra == coding::extraByte)
        extra = bytes(1);
    const unsigned length = first & 3;
    const auto distance = static_cast<std::uint32_t>(bytes(length == 0 ? 4 : length));
    const std::uint32_t stack = coding::unzigzagStack(tables_.top(), distance);
    tables_.said(stack);
    const std::uint64_t word = coding::StackTables::word(size, extra, stack);
    tables_.shapeAt(tables_.shapePlace(static_cast<std::uint32_t>(size), stack)) = word;
    return coding::StackTables::shape(word);
}

void BlockDecoder::alignment(Event& event) noexcept {
    const auto power = static_cast<unsigned>(bytes(1));
    event.alignment = power == 255 ? field(0) : std::uint64_t{1} << (power & 63);
}

bool BlockDecoder::decodeOther(Event& event, unsigned tag) noexcept {
    const auto second = static_cast<unsigned>(*at_++);
    const unsigned routine = second & coding::routineMask;
    const unsigned far = withStacks_ ? coding::far : 0;
    if (!isRoutine(routine) || (second & 128) > far)
        return fail("an unknown routine");
    event.routine = static_cast<Routine>(routine);
    const bool moves = isRealloc(event.routine);
    const unsigned third = moves ? static_cast<unsigned>(*at_++) : 0;
    if (third >= (withStacks_ ? 64U : 32U))
        return fail("a realloc that is none");
    time_ += field((tag >> coding::timeShift) & 3);
    event.time = event.began = time_;
    if (moves) {
        const std::uint64_t took = field(third & 3);
        event.began = took < time_ ? time_ - took : 0;
        event.old = address((third >> coding::oldShift) & 3, (third & coding::oldUnaligned) != 0,
                            (third & coding::oldFar) != 0);
    }
    event.address = address((tag >> coding::addressShift) & 3, (second & coding::unaligned) != 0,
                            (second & far) != 0);
    event.size = event.usable = 0;
    event.stack = 0;
    if ((second & coding::hasAlignmentField) != 0)
        alignment(event);
    if (isAllocation(event.routine))
        shape(event, tag >> coding::shapeShift);
    return true;
}

bool BlockDecoder::nearEnd(Event& event) noexcept {
    if (at_ >= end_ || wrong_ != nullptr)
        return false;
    if (start_ != tail_) {
        const auto left = static_cast<std::size_t>(end_ - at_);
        std::fill(std::begin(tail_), std::end(tail_), std::byte{0});
        std::copy_n(at_, left, tail_);
        moved_ = position();
        start_ = at_ = tail_;
        end_ = tail_ + left;
        safe_ = start_;
    }
    if (!decode(event))
        return false;
    return at_ <= end_ ? true : fail("an event that is cut off");
}

} // namespace heapwright::trace
