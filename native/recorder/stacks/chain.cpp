// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See chain.hpp. The walk ends where the tables mark the outermost frame, where a step would not
// lead outward, or where memory cannot be read. Each step leads to a higher address, so the walk
// terminates. All steps except the plain one are in chain_step.cpp.
#include "chain.hpp"

namespace heapwright::recorder::stacks {

namespace {

constexpr std::uint64_t wordBytes = 8;

/// A check that never holds: of a step that did not read plain words.
constexpr std::uint64_t never = 0;

/// Of the frame that is outside of all: no stack pointer is beyond it.
constexpr std::uint64_t beyondAll = ~std::uint64_t{0};

} // namespace

bool Chain::matches(const Frame& frame, const Walked& at) noexcept {
    return frame.address == at.address && (frame.frame == at.frame || frame.counts == 0);
}

/// The outermost frame up to which the last chain still holds. Starts at `frame`, which holds; a
/// frame holds if the step from the previous one still leads to it.
Chain::Frame* Chain::stillHolds(Frame* frame) noexcept {
    const Check* const first = checks_.data();
    const Check* at = first + (frame - 1)->checks;
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
        return frames_.data() + 1;
    }
    const auto known = static_cast<std::uint32_t>(at - first);
    while ((frame - 1)->checks >= known) {
        --frame;
    }
    return frame;
}

Chain::End Chain::end(Walked* last, std::uint32_t byFramePointer) noexcept {
    frames_[0].passes = byFramePointer;
    return {last, frames_.data() + 1, false};
}

/// The node that last stood at a frame's place.
inline std::uint32_t& Chain::lastAt(const Walked& frame) noexcept {
    const std::uint64_t hash = (frame.address ^ frame.stack << 29U) * 0x9E37'79B9'7F4A'7C15ULL;
    return last_[hash >> (64 - placeBits)];
}

/// A frame's row: of the node that is expected there, or looked up.
inline ShortRow Chain::rowOf(Walked& here, Rows& rows, const NodeTable& nodes) noexcept {
    const NodeTable::Node* node = &nodes.at(here.node);
    if (node->address != here.address) {
        here.node = lastAt(here);
        node = &nodes.at(here.node);
        if (node->address != here.address) {
            here.node = 0;
            return rows.of(here.address);
        }
    }
    const ShortRow row = NodeTable::rowOf(*node);
    return row != noRow ? row : rows.of(here.address);
}

/// Fills `walked_` with what is new. `old` is the innermost frame of the last chain.
Chain::End Chain::walk(Frame* old, Rows& rows, const NodeTable& nodes) noexcept {
    Walked* here = walked_.data();
    std::uint64_t stackEnd = window_.ownEnd();
    while (here != &walked_[most]) {
        while (old->stack < here->stack) {
            --old;
        }
        if (old->stack == here->stack && own_ && matches(*old, *here)) {
            Frame* const same = stillHolds(old);
            if (same == frames_.data() + 1) {
                return {here, old, true};
            }
            old = same - 1;
        }
        const ShortRow row = rowOf(*here, rows, nodes);
        here->row = row;
        const unsigned words = savedWords(row);
        Walked& next = here[1];
        next.stack = (usesFrame(row) ? here->frame : here->stack) + offsetBytes(row);
        if (words == oddMark || next.stack <= here->stack || next.stack > stackEnd ||
            next.stack % wordBytes != 0) [[unlikely]] {
            const Step result = step(*here, next, row, rows);
            if (result != Step::done) {
                return result == Step::foreign ? end(here - 1, here->way & byFrame)
                                               : end(here, next.way & byFrame);
            }
            stackEnd = window_.ownEnd();
        } else {
            // The frame pointer was saved at most seven words below: above the walker's own frame.
            next.address = Window::word(next.stack - wordBytes);
            next.way = (usesFrame(row) ? byFrame : 0U) | (words == 0 ? sameFrame : 0U);
            next.saved = words == 0 ? 0 : next.stack - (words + 1) * wordBytes;
            next.frame = words == 0 ? here->frame : Window::word(next.saved);
        }
        next.node = nodes.at(here->node).parent;
        next.row = noRow;
        if (next.address == 0) {
            return end(here, next.way & byFrame);
        }
        ++here;
    }
    return end(here, 0);
}

/// Puts a frame, and its checks, into the last chain.
void Chain::keep(Frame& place, const Walked& walked, std::uint32_t node) noexcept {
    const Frame& outer = *(&place - 1);
    const std::uint32_t counts = outer.passes;
    place.address = walked.address;
    place.stack = walked.stack;
    place.frame = walked.frame;
    place.node = node;
    place.counts = counts;
    place.passes = (walked.way & byFrame) | (walked.way / sameFrame & counts);
    Check* const check = checks_.data() + outer.checks;
    if ((walked.way & odd) != 0) [[unlikely]] {
        check[0] = {&never, 1};
        place.checks = outer.checks + 1;
        return;
    }
    check[0] = {reinterpret_cast<const std::uint64_t*>(walked.stack - wordBytes), walked.address};
    check[1] = {reinterpret_cast<const std::uint64_t*>(walked.saved), walked.frame};
    place.checks = outer.checks + 1 + (walked.saved != 0 ? counts : 0);
}

/// The node of a call out of another, from those of late if it is there.
inline std::uint32_t Chain::child(std::uint32_t parent, std::uint64_t address,
                                  NodeTable& nodes) noexcept {
    const std::uint64_t hash = (address ^ std::uint64_t{parent} << 20U) * 0x9E37'79B9'7F4A'7C15ULL;
    Recent& recent = recent_[hash >> (64 - recentBits)];
    if (recent.address != address || recent.parent != parent) [[unlikely]] {
        recent = {address, parent, nodes.child(parent, address, stream_)};
    }
    return recent.node;
}

/// The node of a frame that has been walked: the expected one, if it has the right parent.
inline std::uint32_t Chain::nodeOf(const Walked& frame, std::uint32_t parent,
                                   NodeTable& nodes) noexcept {
    if (frame.node != 0 && nodes.at(frame.node).parent == parent) {
        return frame.node;
    }
    const std::uint32_t node = child(parent, frame.address, nodes);
    const bool isNew = node != parent && NodeTable::rowOf(nodes.at(node)) == noRow;
    if (isNew && frame.row != noRow) {
        nodes.noteRow(node, frame.row);
    }
    lastAt(frame) = node;
    return node;
}

/// Numbers what is new, and keeps the whole as the last chain.
StackId Chain::name(const End& end, NodeTable& nodes) noexcept {
    Frame* place = end.place;
    const Walked* each = end.last;
    std::uint32_t node = 0;
    if (end.matching) {
        node = place->node;
        if (each != walked_.data()) { // by another step than last time
            keep(*place, *each, node);
        }
        ++place;
        --each;
    }
    for (; each >= walked_.data(); --each, ++place) {
        node = nodeOf(*each, node, nodes);
        keep(*place, *each, node);
    }
    count_ = static_cast<std::size_t>(place - frames_.data()) - 1;
    return node;
}

/// Of a chain that is too long, only the inner end has a name; the last chain stays what it was.
StackId Chain::nameCut(const End& end, NodeTable& nodes) noexcept {
    const auto fresh = static_cast<std::size_t>(end.last - walked_.data()) + 1;
    std::uint32_t node = nodes.child(0, trace::cutAddress, stream_);
    for (std::size_t i = kept; i > 0; --i) {
        const std::uint64_t address =
            i <= fresh ? walked_[i - 1].address : (end.place - (i - fresh))->address;
        node = child(node, address, nodes);
    }
    return node;
}

StackId Chain::take(std::uint64_t frame, StackMemory& memory, Rows& rows,
                    NodeTable& nodes) noexcept {
    memory_ = &memory;
    window_ = memory.from(frame);
    if (!window_.has(frame) || !window_.has(frame + wordBytes)) {
        fresh_ = outer_ = 0;
        return noStack;
    }
    walked_[0] = {Window::word(frame + wordBytes),
                  frame + 2 * wordBytes,
                  Window::word(frame),
                  0,
                  odd,
                  0,
                  noRow};
    frames_[0].stack = beyondAll;
    const bool before = own_;
    own_ = window_.own();
    const End end = walk(frames_.data() + (before && own_ ? count_ : 0), rows, nodes);
    const std::ptrdiff_t fresh = end.last - walked_.data();
    cut_ = end.place - frames_.data() + fresh > std::ptrdiff_t{most};
    if (cut_) {
        own_ = before;
        fresh_ = static_cast<std::size_t>(fresh) + 1;
        outer_ = static_cast<std::size_t>(end.place - frames_.data()) - 1;
        return nameCut(end, nodes);
    }
    const StackId number = name(end, nodes);
    fresh_ = 0;
    outer_ = count_;
    return number;
}

StackId Chain::node(StackId parent, std::uint64_t address, NodeTable& nodes) noexcept {
    return child(parent, address, nodes);
}

void Chain::forget(NodeTable& nodes) noexcept {
    count_ = 0;
    recent_.fill({});
    last_.fill(0);
    nodes.close(stream_);
}

} // namespace heapwright::recorder::stacks
