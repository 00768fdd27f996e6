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
// window of the walk. Cost: per frame that is the same one or two loads and comparisons; per new
// one a row and a node.
#pragma once

#include "node_table.hpp"
#include "rows.hpp"
#include "stack_memory.hpp"
#include "stacks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright::stacks {

/// What the processor will have in its registers once the call has returned.
struct Registers {
    std::uint64_t address;
    std::uint64_t stack;
    std::uint64_t frame;
};

class Chain {
public:
    static constexpr std::size_t most = 1024; ///< frames of one chain
    static constexpr std::size_t kept = 64;   ///< of a longer one, the innermost

    /// The number of the chain from a routine's frame outward.
    StackId take(std::uint64_t frame, StackMemory& memory, Rows& rows, NodeTable& nodes) noexcept;

    void forget() noexcept {
        count_ = 0;
        recent_.fill({});
    }

private:
    /// How a step has found a frame.
    struct Way {
        bool byFrame = false;   ///< the inner frame's frame pointer led to it
        bool sameFrame = false; ///< its frame pointer is the inner frame's
        bool other = false;     ///< by words that are not plainly on the stack
    };

    struct Frame {
        Registers at;
        std::uint32_t node;
        std::uint32_t checks; ///< of `checks_`, this frame's own and those of all outside of it
        Way way;
        bool frameCounts; ///< a step further out goes by the frame pointer that it had here
    };

    /// A frame as a step has found it, and where it read what.
    struct Walked {
        Registers at;
        std::uint64_t savedPlace; ///< of the frame pointer; 0 = nowhere
        std::uint64_t stackPlace; ///< of the stack pointer; 0 = nowhere
        Way way;
    };

    /// A node that this thread has been given lately: programs go back and forth among few.
    struct Recent {
        std::uint64_t address;
        std::uint32_t parent;
        std::uint32_t node;
    };
    static constexpr std::size_t recentNodes = 4096; // a power of two

    /// What a step has read.
    struct Check {
        const std::uint64_t* place;
        std::uint64_t value;
    };

    enum class Step : std::uint8_t { done, last, foreign };

    [[nodiscard]] Step step(const Walked& from, Walked& to, Rows& rows) noexcept;
    [[nodiscard]] Step stepOdd(const Walked& from, Walked& to, const Row& row) noexcept;
    [[nodiscard]] Step stepSignal(const Walked& from, Walked& to) noexcept;
    [[nodiscard]] bool load(Walked& to) noexcept;
    [[nodiscard]] bool restoreFrame(Walked& to, std::uint64_t place) noexcept;
    [[nodiscard]] static bool matches(const Frame& frame, const Registers& at) noexcept;
    [[nodiscard]] std::size_t stillHolds(std::size_t frame) const noexcept;
    std::size_t walk(Walked here, Rows& rows) noexcept;
    void keep(std::size_t place, const Walked& walked, std::uint32_t node) noexcept;
    std::uint32_t child(std::uint32_t parent, std::uint64_t address, NodeTable& nodes) noexcept;
    StackId name(std::size_t base, NodeTable& nodes) noexcept;
    StackId nameCut(std::size_t base, NodeTable& nodes) noexcept;

    Window window_;
    StackMemory* memory_ = nullptr;
    std::size_t count_ = 0;           ///< of `frames_`
    std::size_t fresh_ = 0;           ///< of `walked_`
    bool own_ = false;                ///< all of `frames_` were on the thread's own stack
    bool endsByFrame_ = false;        ///< the walk ended at a step that went by the frame pointer
    std::array<Walked, most> walked_; ///< innermost first
    std::array<Frame, most> frames_;
    std::array<Check, 3 * most> checks_;
    std::array<Recent, recentNodes> recent_; ///< on pages that are zero at first
};

} // namespace heapwright::stacks
