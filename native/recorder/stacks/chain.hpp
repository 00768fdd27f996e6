// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's last call chain, from which the next chain is found. Stacks change at their inner end.
// A walk goes outward until it reaches a frame of the last chain. Then the stack alone shows
// whether the outer frames are unchanged. A step depends only on the registers and the words that
// it reads. If those words are unchanged, the step is too: it needs no row, and its nodes are
// known. Most code uses the frame pointer like any other register. It is compared only if an outer
// step uses it.
//
// Invariant: frames are kept outermost first. Each was found by a step from the next. The words
// that the step read are its checks, kept in one list in the same order. All of this may be out of
// date, so each value is compared before it is used. Memory is read only through the window of the
// walk.
//
// The thread has met most new frames before, and the tree of chains predicts them. The prediction
// starts with the last node at the same position of the stack and follows its parents along with
// the walk. While their addresses match the stack, their rows are valid. Such nodes are neighbours
// in memory, in the order of their creation. Lookups of rows and nodes by hash are scattered, and
// an allocating program leaves little of the processor's caches free.
//
// Cost: one or two loads and comparisons per unchanged frame. Some seventy instructions per other
// frame, and the cache misses of its node and its row.
#pragma once

#include "host.hpp"
#include "node_table.hpp"
#include "rows.hpp"
#include "stack_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright::recorder::stacks {

class Chain {
public:
    static constexpr std::size_t most = 1024; ///< frames of one chain
    static constexpr std::size_t kept = 64;   ///< of a longer one, the innermost

    /// The number of the chain from a routine's frame outward.
    StackId take(std::uint64_t frame, StackMemory& memory, Rows& rows, NodeTable& nodes) noexcept;

    /// A call of the chain that was taken last.
    struct Place {
        std::uint64_t address;
        std::uint64_t stack; ///< the stack pointer of the function that made the call
    };
    /// How many calls that chain has; not more than `most` + 1.
    [[nodiscard]] std::size_t length() const noexcept { return fresh_ + outer_; }
    /// One of them; 0 is the innermost. Pre: `number` < `length()`.
    [[nodiscard]] Place at(std::size_t number) const noexcept {
        if (number < fresh_) {
            return {walked_[number].address, walked_[number].stack};
        }
        const Frame& frame = frames_[outer_ - (number - fresh_)];
        return {frame.address, frame.stack};
    }
    /// Whether it was too long, so that its outer part is missing in its number.
    [[nodiscard]] bool isCut() const noexcept { return cut_; }

    /// The number of a call out of another.
    [[nodiscard]] StackId node(StackId parent, std::uint64_t address, NodeTable& nodes) noexcept;

    /// Nothing that was is to be believed.
    void forget(NodeTable& nodes) noexcept;

    /// The thread ends.
    void close(NodeTable& nodes) noexcept { nodes.close(stream_); }

    /// In the child of a fork: what nodes are written into is the parent's.
    void abandon() noexcept { NodeTable::abandon(stream_); }

private:
    /// How a step has found a frame.
    enum Way : std::uint32_t {
        byFrame = 1,   ///< the inner frame's frame pointer led to it
        sameFrame = 2, ///< its frame pointer is the inner frame's
        odd = 4,       ///< by words that are not plainly on the stack
    };

    /// A frame as a step has found it: what the processor will have in its registers once the call
    /// has returned.
    struct Walked {
        std::uint64_t address;
        std::uint64_t stack;
        std::uint64_t frame;
        std::uint64_t saved; ///< where the frame pointer was read; 0 = nowhere
        std::uint32_t way;
        std::uint32_t node; ///< that it probably is; it has this address. 0 = not known
        ShortRow row;       ///< by which the next one was found; `noRow` = that does not matter
    };

    struct Frame {
        std::uint64_t address;
        std::uint64_t stack;
        std::uint64_t frame;
        std::uint32_t node;
        std::uint32_t checks; ///< in `checks_`, for this frame and all frames outside it
        std::uint32_t counts; ///< 1: a step further out uses the frame pointer of this frame
        std::uint32_t passes; ///< `counts` of the next inner frame
    };

    /// A node that this thread used lately: programs alternate between few nodes.
    struct Recent {
        std::uint64_t address;
        std::uint32_t parent;
        std::uint32_t node;
    };
    static constexpr unsigned recentBits = 13;
    static constexpr std::size_t recentNodes = std::size_t{1} << recentBits;
    /// Nodes by the place on the stack.
    static constexpr unsigned placeBits = 14;
    static constexpr std::size_t stackPlaces = std::size_t{1} << placeBits;

    /// What a step has read.
    struct Check {
        const std::uint64_t* place;
        std::uint64_t value;
    };

    /// Where a walk has ended.
    struct End {
        Walked* last;  ///< the outermost frame of the walk
        Frame* place;  ///< its position in the chain
        bool matching; ///< the chain has it there already, with all frames outside it
    };

    enum class Step : std::uint8_t { done, last, foreign };

    [[nodiscard]] Step step(const Walked& from, Walked& to, ShortRow row, Rows& rows) noexcept;
    [[nodiscard]] Step stepSlowly(const Walked& from, Walked& to, const Row& row) noexcept;
    [[nodiscard]] Step stepSignal(const Walked& from, Walked& to) noexcept;
    [[nodiscard]] bool load(Walked& to) noexcept;
    [[nodiscard]] bool restoreFrame(Walked& to, std::uint64_t place) noexcept;
    [[nodiscard]] static bool matches(const Frame& frame, const Walked& at) noexcept;
    [[nodiscard]] Frame* stillHolds(Frame* frame) noexcept;
    [[nodiscard]] End walk(Frame* old, Rows& rows, const NodeTable& nodes) noexcept;
    [[nodiscard]] std::uint32_t& lastAt(const Walked& frame) noexcept;
    [[nodiscard]] ShortRow rowOf(Walked& here, Rows& rows, const NodeTable& nodes) noexcept;
    [[nodiscard]] End end(Walked* last, std::uint32_t byFramePointer) noexcept;
    void keep(Frame& place, const Walked& walked, std::uint32_t node) noexcept;
    std::uint32_t child(std::uint32_t parent, std::uint64_t address, NodeTable& nodes) noexcept;
    std::uint32_t nodeOf(const Walked& frame, std::uint32_t parent, NodeTable& nodes) noexcept;
    StackId name(const End& end, NodeTable& nodes) noexcept;
    StackId nameCut(const End& end, NodeTable& nodes) noexcept;

    Window window_;
    StackMemory* memory_ = nullptr;
    std::size_t count_ = 0; ///< frames of the last chain, from the second place of `frames_` on
    bool own_ = false;      ///< all of them were on the thread's own stack
    bool cut_ = false;      ///< the chain taken last was too long
    std::size_t fresh_ = 0; ///< calls of the chain taken last that are in `walked_` only
    std::size_t outer_ = 0; ///< the other calls of it; the innermost of these is in `frames_` there
    NodeStream stream_;
    std::array<Walked, most + 1> walked_; ///< innermost first
    std::array<Frame, most + 1> frames_;  ///< the first lies beyond all
    std::array<Check, 2 * most + 2> checks_;
    std::array<Recent, recentNodes> recent_; ///< on pages that are zero at first, as the next
    std::array<std::uint32_t, stackPlaces> last_;
};

} // namespace heapwright::recorder::stacks
