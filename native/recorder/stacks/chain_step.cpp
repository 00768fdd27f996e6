// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps of chain.hpp that are not plain: by odd rows, out of signal handlers, and on a stack
// that is not the thread's own. Each word of such a stack is probed before it is read.
#include "chain.hpp"

namespace heapwright::recorder::stacks {

namespace {

constexpr std::uint64_t wordBytes = 8;

/// A row as it was before it was shortened.
Row wholeRow(ShortRow row, const Rows& rows) {
    if (savedWords(row) == oddMark) {
        return rows.odd(row);
    }
    const auto words = static_cast<std::int32_t>(savedWords(row));
    return {usesFrame(row) ? Row::Base::frame : Row::Base::stack,
            words == 0 ? Row::Saved::same : Row::Saved::atCfa,
            static_cast<std::int32_t>(offsetBytes(row)), -8 * (words + 1)};
}

} // namespace

/// Takes the return address from below the new stack pointer, where that is outward and readable.
bool Chain::load(Walked& to) noexcept {
    if (!window_.has(to.stack - wordBytes)) {
        return false;
    }
    to.address = Window::word(to.stack - wordBytes);
    return true;
}

/// Takes the frame pointer from where it was saved.
bool Chain::restoreFrame(Walked& to, std::uint64_t place) noexcept {
    if (!window_.has(place)) {
        return false;
    }
    to.saved = place;
    to.frame = Window::word(place);
    return true;
}

Chain::Step Chain::step(const Walked& from, Walked& to, ShortRow row, Rows& rows) noexcept {
    return stepSlowly(from, to, wholeRow(row, rows));
}

Chain::Step Chain::stepSlowly(const Walked& from, Walked& to, const Row& row) noexcept {
    const auto offset = static_cast<std::uint64_t>(std::int64_t{row.offset});
    const auto savedOffset = static_cast<std::uint64_t>(std::int64_t{row.savedOffset});
    to.way = (row.base != Row::Base::stack ? byFrame : 0U) |
             (row.saved == Row::Saved::same ? sameFrame : 0U);
    to.saved = 0;
    switch (row.base) {
    case Row::Base::stack:
        to.stack = from.stack + offset;
        break;
    case Row::Base::frame:
        to.stack = from.frame + offset;
        break;
    case Row::Base::frameWord:
        if (!window_.has(from.frame + offset)) {
            return Step::last;
        }
        to.stack = Window::word(from.frame + offset);
        to.way |= odd;
        break;
    case Row::Base::signal:
        return stepSignal(from, to);
    case Row::Base::foreign:
        return Step::foreign;
    default:
        to.way &= ~std::uint32_t{byFrame};
        return Step::last;
    }
    if (to.stack <= from.stack || !load(to)) {
        return Step::last;
    }
    to.frame = row.saved == Row::Saved::same ? from.frame : 0;
    if (row.saved != Row::Saved::atCfa && row.saved != Row::Saved::atFrame) {
        return Step::done;
    }
    const std::uint64_t base = row.saved == Row::Saved::atCfa ? to.stack : from.frame;
    return restoreFrame(to, base + savedOffset) ? Step::done : Step::last;
}

/// A step out of a signal handler. The kernel stores the registers of the interrupted code behind
/// the handler's return address (struct ucontext of x86-64). That code may run on another stack.
Chain::Step Chain::stepSignal(const Walked& from, Walked& to) noexcept {
    constexpr std::uint64_t frameAt = 120;
    constexpr std::uint64_t stackAt = 160;
    constexpr std::uint64_t addressAt = 168;
    for (const std::uint64_t place : {frameAt, stackAt, addressAt}) {
        if (!window_.has(from.stack + place)) {
            return Step::last;
        }
    }
    to.way = byFrame | odd;
    to.frame = Window::word(from.stack + frameAt);
    to.stack = Window::word(from.stack + stackAt);
    to.address = Window::word(from.stack + addressAt) + 1; // as if it had been called there
    if (to.stack <= from.stack || !window_.has(to.stack & ~(wordBytes - 1))) {
        if (!isReadable(to.stack & ~(wordBytes - 1))) {
            return Step::last;
        }
        window_ = memory_->from(to.stack & ~(wordBytes - 1));
        own_ = false;
    }
    return Step::done;
}

} // namespace heapwright::recorder::stacks
