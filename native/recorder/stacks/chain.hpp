// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's last chain of calls, and how the next one is found from it. Stacks change at their
// inner end: a walk goes outward until it stands where the last one stood too. Whether the rest is
// still the same is then seen from the stack alone: a step depends on nothing but the registers and
// the words it reads, so if those words are what they were, so is the step. No row is looked up for
// it, and its nodes are known. Most code uses the frame pointer as any other register; what it
// holds is compared only where a step further out goes by it.
//
// Invariants: frames are kept outermost first; each was found by a step from the next, and the
// words that the step read are its checks, kept in one list in the same order. All that may be out
// of date: nothing of it is believed before it has been compared. Memory is read only through the
// window of the walk.
//
// What is new is mostly not new to the thread: the tree of chains tells what to expect. From the
// node that stood at the same place of the stack the last time, its parents are followed beside the
// walk, and as long as their addresses are those of the stack, their rows are the rows. Such nodes
// lie side by side in memory, as they were made; rows and nodes that are looked up by hashes do
// not, and who asks for memory has little of the processor's caches left.
//
// Cost: per frame that is the same one or two loads and comparisons; per other one some seventy
// instructions, and the memory that its node and its row stand in.
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
        std::uint32_t checks; ///< of `checks_`, this frame's own and those of all outside of it
        std::uint32_t counts; ///< 1: a step further out goes by the frame pointer that it had here
        std::uint32_t passes; ///< the same of the next frame inwards
    };

    /// A node that this thread has been given lately: programs go back and forth among few.
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
        Frame* place;  ///< where it stands in the chain
        bool matching; ///< there it stands already, and so does all outside of it
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
    NodeStream stream_;
    std::array<Walked, most + 1> walked_; ///< innermost first
    std::array<Frame, most + 1> frames_;  ///< the first lies beyond all
    std::array<Check, 2 * most + 2> checks_;
    std::array<Recent, recentNodes> recent_; ///< on pages that are zero at first, as the next
    std::array<std::uint32_t, stackPlaces> last_;
};

} // namespace heapwright::recorder::stacks
