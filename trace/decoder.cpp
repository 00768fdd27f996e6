// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The rarer parts of the decoder: routines beside malloc, new and free, shapes that are new, and
// the last events of a payload, which are read from a copy that has zeros behind it.
#include "trace/decoder.hpp"

#include <algorithm>

namespace heapwright::trace {

void BlockDecoder::begin(std::span<const std::byte> payload, bool withStacks, bool zeroEnds,
                         std::uint64_t firstTime) noexcept {
    start_ = at_ = payload.data();
    end_ = start_ + payload.size();
    safe_ = payload.size() > maxEventSize ? end_ - maxEventSize : start_;
    moved_ = 0;
    time_ = firstTime;
    base_ = 0;
    wrong_ = nullptr;
    withStacks_ = withStacks;
    zeroEnds_ = zeroEnds;
    shapes_.clear();
}

void BlockDecoder::newShape(Event& event, unsigned way) noexcept {
    event.stack = 0;
    if (way == coding::shapeSmall) {
        event.size = bytes(2);
        const std::uint64_t extra = bytes(1);
        event.usable = extra == coding::noneSmall ? 0 : event.size + extra;
        event.stack = withStacks_ ? static_cast<std::uint32_t>(bytes(3)) : 0;
    } else if (way == coding::shapeMedium) {
        event.size = bytes(4);
        const std::uint64_t extra = bytes(3);
        event.usable = extra == coding::noneMedium ? 0 : event.size + extra;
    } else {
        event.size = field(0);
        event.usable = field(0);
    }
    if (way != coding::shapeSmall && withStacks_)
        event.stack = static_cast<std::uint32_t>(bytes(4));
    if (way == coding::shapeLarge || event.usable >> 32 != 0)
        return;
    const auto size = static_cast<std::uint32_t>(event.size);
    shapes_.at(coding::ShapeTable::place(size, event.stack)) = {
        size, static_cast<std::uint32_t>(event.usable), event.stack};
}

void BlockDecoder::alignment(Event& event) noexcept {
    const auto power = static_cast<unsigned>(bytes(1));
    event.alignment = power == 255 ? field(0) : std::uint64_t{1} << (power & 63);
}

bool BlockDecoder::decodeOther(Event& event, unsigned tag) noexcept {
    const auto second = static_cast<unsigned>(*at_++);
    const unsigned routine = second & coding::routineMask;
    if (!isRoutine(routine) || second >= 128)
        return fail("an unknown routine");
    event.routine = static_cast<Routine>(routine);
    const bool moves = isRealloc(event.routine);
    const unsigned third = moves ? static_cast<unsigned>(*at_++) : 0;
    if (third >= 32)
        return fail("a realloc that is none");
    time_ += field((tag >> coding::timeShift) & 3);
    event.time = event.began = time_;
    if (moves) {
        const std::uint64_t took = field(third & 3);
        event.began = took < time_ ? time_ - took : 0;
        event.old = address((third >> coding::oldShift) & 3, (third & coding::oldCrooked) != 0);
    }
    event.address = address((tag >> coding::addressShift) & 3, (second & coding::crooked) != 0);
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
