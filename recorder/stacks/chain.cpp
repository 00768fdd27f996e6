// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See chain.hpp. The walk ends where tables say so, where a step would not lead outward, or where
// what it needs cannot be read; each step goes to a higher address, so that it does end.
#include "chain.hpp"

namespace heapwright::stacks {

namespace {

constexpr std::uint64_t wordBytes = 8;

} // namespace

/// Takes the return address from below the new stack pointer, where that is outward and readable.
bool Chain::load(Frame& to) noexcept {
    if (!window_.has(to.at.stack - wordBytes)) {
        return false;
    }
    to.at.address = Window::word(to.at.stack - wordBytes);
    return true;
}

Chain::Step Chain::step(const Frame& from, Frame& to, Rows& rows) noexcept {
    const ShortRow row = rows.of(from.at.address);
    const unsigned words = savedWords(row);
    if (words == oddMark) [[unlikely]] {
        return stepOdd(from, to, rows.odd(row));
    }
    to.at.stack = (usesFrame(row) ? from.at.frame : from.at.stack) + offsetBytes(row);
    if (to.at.stack <= from.at.stack || !load(to)) {
        return Step::last;
    }
    to.saved = 0;
    to.at.frame = from.at.frame;
    if (words != 0) {
        to.saved = (words + 1) * wordBytes;
        const std::uint64_t place = to.at.stack - to.saved;
        if (!window_.has(place)) {
            return Step::last;
        }
        to.at.frame = Window::word(place);
    }
    return Step::done;
}

Chain::Step Chain::stepOdd(const Frame& from, Frame& to, const Row& row) noexcept {
    const auto offset = static_cast<std::uint64_t>(std::int64_t{row.offset});
    const auto savedOffset = static_cast<std::uint64_t>(std::int64_t{row.savedOffset});
    to.saved = unplain;
    switch (row.base) {
    case Row::Base::stack:
        to.at.stack = from.at.stack + offset;
        break;
    case Row::Base::frame:
        to.at.stack = from.at.frame + offset;
        break;
    case Row::Base::frameWord:
        if (!window_.has(from.at.frame + offset)) {
            return Step::last;
        }
        to.at.stack = Window::word(from.at.frame + offset);
        break;
    case Row::Base::signal:
        return stepSignal(from, to);
    case Row::Base::foreign:
        return Step::foreign;
    default:
        return Step::last;
    }
    if (to.at.stack <= from.at.stack || !load(to)) {
        return Step::last;
    }
    to.at.frame = row.saved == Row::Saved::same ? from.at.frame : 0;
    if (row.saved == Row::Saved::atCfa || row.saved == Row::Saved::atFrame) {
        const std::uint64_t base = row.saved == Row::Saved::atCfa ? to.at.stack : from.at.frame;
        if (!window_.has(base + savedOffset)) {
            return Step::last;
        }
        to.at.frame = Window::word(base + savedOffset);
    }
    return Step::done;
}

/// Out of a signal handler: the kernel has put the registers of what it interrupted, which may run
/// on another stack, behind the handler's return address (struct ucontext of x86-64).
Chain::Step Chain::stepSignal(const Frame& from, Frame& to) noexcept {
    constexpr std::uint64_t frameAt = 120;
    constexpr std::uint64_t stackAt = 160;
    constexpr std::uint64_t addressAt = 168;
    for (const std::uint64_t place : {frameAt, stackAt, addressAt}) {
        if (!window_.has(from.at.stack + place)) {
            return Step::last;
        }
    }
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

/// Whether a step from `inner` still leads to `outer`. Pre: both were on this stack.
bool Chain::holds(const Frame& inner, const Frame& outer) noexcept {
    if (outer.saved == unplain || Window::word(outer.at.stack - wordBytes) != outer.at.address) {
        return false;
    }
    const std::uint64_t frame =
        outer.saved == 0 ? inner.at.frame : Window::word(outer.at.stack - outer.saved);
    return frame == outer.at.frame;
}

/// Fills `walked_` with what is new; how many frames of the last chain, from the outermost on, are
/// the rest of this one.
std::size_t Chain::walk(Frame here, Rows& rows) noexcept {
    std::size_t old = own_ && window_.own() ? count_ : 0;
    own_ = window_.own();
    fresh_ = 0;
    while (fresh_ < most) {
        while (old > 0 && frames_[old - 1].at.stack < here.at.stack) {
            --old;
        }
        if (old > 0 && own_ && frames_[old - 1].at == here.at) {
            std::size_t same = old;
            while (same > 1 && holds(frames_[same - 1], frames_[same - 2])) {
                --same;
            }
            if (same == 1) {
                return old;
            }
            while (old > same && fresh_ < most) {
                walked_[fresh_++] = frames_[--old];
            }
            here = frames_[--old];
        }
        if (fresh_ == most) {
            break;
        }
        walked_[fresh_++] = here;
        Frame next{};
        const Step result = step(here, next, rows);
        fresh_ -= result == Step::foreign ? 1 : 0;
        if (result != Step::done || next.at.address == 0) {
            return 0;
        }
        here = next;
    }
    return 0;
}

/// Numbers what is new, and keeps the whole as the last chain.
StackId Chain::name(std::size_t base, NodeTable& nodes) noexcept {
    std::uint32_t node = base > 0 ? frames_[base - 1].node : 0;
    bool same = true; // so far the addresses are those of the last chain
    std::size_t place = base;
    for (std::size_t i = fresh_; i > 0; --i, ++place) {
        Frame& walked = walked_[i - 1];
        same = same && place < count_ && frames_[place].at.address == walked.at.address;
        node = same ? frames_[place].node : nodes.child(node, walked.at.address);
        walked.node = node;
        frames_[place] = walked;
    }
    count_ = place;
    return node;
}

/// Of a chain that is too long, only the inner end has a name; the last chain stays what it was.
StackId Chain::nameCut(std::size_t base, NodeTable& nodes) noexcept {
    std::uint32_t node = nodes.child(0, trace::cutAddress);
    for (std::size_t i = kept; i > 0; --i) {
        const Frame& frame = i <= fresh_ ? walked_[i - 1] : frames_[base - (i - fresh_)];
        node = nodes.child(node, frame.at.address);
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
    const Frame first{
        {Window::word(frame + wordBytes), frame + 2 * wordBytes, Window::word(frame)}, 0, unplain};
    const bool before = own_;
    const std::size_t base = walk(first, rows);
    if (base + fresh_ > most || fresh_ == most) {
        own_ = before;
        return nameCut(base, nodes);
    }
    return name(base, nodes);
}

} // namespace heapwright::stacks
