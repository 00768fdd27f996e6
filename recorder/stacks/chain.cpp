// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See chain.hpp. The walk ends where tables say so, where a step would not lead outward, or where
// what it needs cannot be read; each step goes to a higher address, so that it does end.
#include "chain.hpp"

namespace heapwright::stacks {

namespace {

constexpr std::uint64_t wordBytes = 8;

/// A check that never holds: of a step that did not read plain words.
constexpr std::uint64_t never = 0;

} // namespace

/// Takes the return address from below the new stack pointer, where that is outward and readable.
bool Chain::load(Walked& to) noexcept {
    if (!window_.has(to.at.stack - wordBytes)) {
        return false;
    }
    to.at.address = Window::word(to.at.stack - wordBytes);
    return true;
}

Chain::Step Chain::step(const Walked& from, Walked& to, Rows& rows) noexcept {
    const ShortRow row = rows.of(from.at.address);
    const unsigned words = savedWords(row);
    if (words == oddMark) [[unlikely]] {
        return stepOdd(from, to, rows.odd(row));
    }
    to.way = {usesFrame(row), words == 0, false};
    to.stackPlace = 0;
    to.at.stack = (usesFrame(row) ? from.at.frame : from.at.stack) + offsetBytes(row);
    if (to.at.stack <= from.at.stack || !load(to)) {
        return Step::last;
    }
    to.savedPlace = 0;
    to.at.frame = from.at.frame;
    return words == 0 || restoreFrame(to, to.at.stack - (words + 1) * wordBytes) ? Step::done
                                                                                 : Step::last;
}

/// Takes the frame pointer from where it was saved.
bool Chain::restoreFrame(Walked& to, std::uint64_t place) noexcept {
    if (!window_.has(place)) {
        return false;
    }
    to.savedPlace = place;
    to.at.frame = Window::word(place);
    return true;
}

Chain::Step Chain::stepOdd(const Walked& from, Walked& to, const Row& row) noexcept {
    const auto offset = static_cast<std::uint64_t>(std::int64_t{row.offset});
    const auto savedOffset = static_cast<std::uint64_t>(std::int64_t{row.savedOffset});
    to.way = {row.base != Row::Base::stack, row.saved == Row::Saved::same, false};
    to.savedPlace = 0;
    to.stackPlace = 0;
    switch (row.base) {
    case Row::Base::stack:
        to.at.stack = from.at.stack + offset;
        break;
    case Row::Base::frame:
        to.at.stack = from.at.frame + offset;
        break;
    case Row::Base::frameWord:
        to.stackPlace = from.at.frame + offset;
        if (!window_.has(to.stackPlace)) {
            return Step::last;
        }
        to.at.stack = Window::word(to.stackPlace);
        break;
    case Row::Base::signal:
        return stepSignal(from, to);
    case Row::Base::foreign:
        return Step::foreign;
    default:
        to.way.byFrame = false;
        return Step::last;
    }
    if (to.at.stack <= from.at.stack || !load(to)) {
        return Step::last;
    }
    to.at.frame = row.saved == Row::Saved::same ? from.at.frame : 0;
    if (row.saved != Row::Saved::atCfa && row.saved != Row::Saved::atFrame) {
        return Step::done;
    }
    const std::uint64_t base = row.saved == Row::Saved::atCfa ? to.at.stack : from.at.frame;
    return restoreFrame(to, base + savedOffset) ? Step::done : Step::last;
}

/// Out of a signal handler: the kernel has put the registers of what it interrupted, which may run
/// on another stack, behind the handler's return address (struct ucontext of x86-64).
Chain::Step Chain::stepSignal(const Walked& from, Walked& to) noexcept {
    constexpr std::uint64_t frameAt = 120;
    constexpr std::uint64_t stackAt = 160;
    constexpr std::uint64_t addressAt = 168;
    for (const std::uint64_t place : {frameAt, stackAt, addressAt}) {
        if (!window_.has(from.at.stack + place)) {
            return Step::last;
        }
    }
    to.way = {true, false, true};
    to.at.frame = Window::word(from.at.stack + frameAt);
    to.at.stack = Window::word(from.at.stack + stackAt);
    to.at.address = Window::word(from.at.stack + addressAt) + 1; // as if it had been called there
    if (to.at.stack <= from.at.stack || !window_.has(to.at.stack & ~(wordBytes - 1))) {
        if (!isReadable(to.at.stack & ~(wordBytes - 1))) {
            return Step::last;
        }
        window_ = memory_->from(to.at.stack & ~(wordBytes - 1));
        own_ = false;
    }
    return Step::done;
}

bool Chain::matches(const Frame& frame, const Registers& at) noexcept {
    return frame.at.stack == at.stack && frame.at.address == at.address &&
           (frame.at.frame == at.frame || !frame.frameCounts);
}

/// How far out the last chain is still what it was, seen from `frame`, which is: the outermost
/// frame that a step from the one before it still leads to.
std::size_t Chain::stillHolds(std::size_t frame) const noexcept {
    const auto firstOf = [this](std::size_t i) { return i > 0 ? frames_[i - 1].checks : 0; };
    const Check* const first = checks_.data();
    const Check* at = first + firstOf(frame);
    const auto differs = [](const Check& check) { return *check.place ^ check.value; };
    constexpr std::ptrdiff_t stride = 4;
    while (at - first >= stride &&
           (differs(at[-1]) | differs(at[-2]) | differs(at[-3]) | differs(at[-4])) == 0) {
        at -= stride;
    }
    while (at != first && differs(at[-1]) == 0) {
        --at;
    }
    if (at == first) {
        return 0;
    }
    const auto known = static_cast<std::size_t>(at - first);
    while (frame > 0 && firstOf(frame - 1) >= known) {
        --frame;
    }
    return frame;
}

/// Fills `walked_` with what is new; how many frames of the last chain, from the outermost on, are
/// the rest of this one.
std::size_t Chain::walk(Walked here, Rows& rows) noexcept {
    std::size_t old = own_ && window_.own() ? count_ : 0;
    own_ = window_.own();
    fresh_ = 0;
    while (fresh_ < most) {
        walked_[fresh_++] = here;
        while (old > 0 && frames_[old - 1].at.stack < here.at.stack) {
            --old;
        }
        if (old > 0 && own_ && matches(frames_[old - 1], here.at)) {
            const std::size_t same = stillHolds(old - 1);
            if (same == 0) {
                return old - 1; // for `here` has been found by another step than last time
            }
            old = same;
        }
        Walked next;
        const Step result = step(here, next, rows);
        if (result == Step::foreign) {
            --fresh_;
        }
        if (result != Step::done || next.at.address == 0) {
            endsByFrame_ = result == Step::foreign ? here.way.byFrame : next.way.byFrame;
            return 0;
        }
        here = next;
    }
    return 0;
}

/// Puts a frame, and its checks, into the last chain.
void Chain::keep(std::size_t place, const Walked& walked, std::uint32_t node) noexcept {
    Frame& frame = frames_[place];
    const Frame* const outer = place > 0 ? &frames_[place - 1] : nullptr;
    frame.at = walked.at;
    frame.node = node;
    frame.way = walked.way;
    frame.frameCounts = outer != nullptr
                            ? outer->way.byFrame || (outer->way.sameFrame && outer->frameCounts)
                            : endsByFrame_;
    Check* check = checks_.data() + (outer != nullptr ? outer->checks : 0);
    const auto add = [&check](std::uint64_t address, std::uint64_t value) {
        *check++ = {reinterpret_cast<const std::uint64_t*>(address), value};
    };
    if (walked.way.other) {
        *check++ = {&never, 1};
    } else {
        add(walked.at.stack - wordBytes, walked.at.address);
        if (walked.savedPlace != 0 && frame.frameCounts) {
            add(walked.savedPlace, walked.at.frame);
        }
        if (walked.stackPlace != 0) {
            add(walked.stackPlace, walked.at.stack);
        }
    }
    frame.checks = static_cast<std::uint32_t>(check - checks_.data());
}

/// The node of a call out of another, from those of late if it is there.
std::uint32_t Chain::child(std::uint32_t parent, std::uint64_t address, NodeTable& nodes) noexcept {
    const std::uint64_t hash = (address ^ std::uint64_t{parent} << 20U) * 0x9E37'79B9'7F4A'7C15ULL;
    Recent& recent = recent_[hash >> 52U];
    if (recent.address != address || recent.parent != parent) {
        recent = {address, parent, nodes.child(parent, address)};
    }
    return recent.node;
}

/// Numbers what is new, and keeps the whole as the last chain.
StackId Chain::name(std::size_t base, NodeTable& nodes) noexcept {
    std::uint32_t node = base > 0 ? frames_[base - 1].node : 0;
    bool same = true; // so far the addresses are those of the last chain
    std::size_t place = base;
    for (std::size_t i = fresh_; i > 0; --i, ++place) {
        const Walked& walked = walked_[i - 1];
        same = same && place < count_ && frames_[place].at.address == walked.at.address;
        node = same ? frames_[place].node : child(node, walked.at.address, nodes);
        keep(place, walked, node);
    }
    count_ = place;
    return node;
}

/// Of a chain that is too long, only the inner end has a name; the last chain stays what it was.
StackId Chain::nameCut(std::size_t base, NodeTable& nodes) noexcept {
    std::uint32_t node = nodes.child(0, trace::cutAddress);
    for (std::size_t i = kept; i > 0; --i) {
        const Registers& at = i <= fresh_ ? walked_[i - 1].at : frames_[base - (i - fresh_)].at;
        node = child(node, at.address, nodes);
    }
    return node;
}

StackId Chain::take(std::uint64_t frame, StackMemory& memory, Rows& rows,
                    NodeTable& nodes) noexcept {
    memory_ = &memory;
    window_ = memory.from(frame);
    if (!window_.has(frame) || !window_.has(frame + wordBytes)) {
        return noStack;
    }
    const Walked first{
        {Window::word(frame + wordBytes), frame + 2 * wordBytes, Window::word(frame)},
        0,
        0,
        {false, false, true}};
    const bool before = own_;
    const std::size_t base = walk(first, rows);
    if (base + fresh_ > most || fresh_ == most) {
        own_ = before;
        return nameCut(base, nodes);
    }
    return name(base, nodes);
}

} // namespace heapwright::stacks
