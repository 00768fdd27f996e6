// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's last chain of calls, and how the next one is found from it. Stacks change at their
// inner end: a walk goes outward until it stands where the last one stood too. Whether the rest is
// still the same is then seen from the stack alone: a step depends on nothing but the registers and
// the words it reads, so if those words are what they were, so is the step. No row is looked up for
// it, and its nodes are known.
//
// Invariants: frames are kept outermost first. Each was found from the next, which may be out of
// date: nothing of it is believed before it has been compared. Memory is read only through the
// window of the walk. Cost: per frame that is the same two loads; per new one a row and a node.
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

    bool operator==(const Registers&) const = default;
};

class Chain {
public:
    static constexpr std::size_t most = 1024; ///< frames of one chain
    static constexpr std::size_t kept = 64;   ///< of a longer one, the innermost

    /// The number of the chain from a routine's frame outward.
    StackId take(std::uint64_t frame, StackMemory& memory, Rows& rows, NodeTable& nodes) noexcept;

    void forget() noexcept { count_ = 0; }

private:
    static constexpr std::uint32_t unplain = ~std::uint32_t{0};

    struct Frame {
        Registers at;
        std::uint32_t node;
        /// The frame pointer was found so many bytes below `at.stack`; 0 = it was the inner
        /// frame's; `unplain` = in another way, or the address was.
        std::uint32_t saved;
    };

    enum class Step : std::uint8_t { done, last, foreign };

    [[nodiscard]] Step step(const Frame& from, Frame& to, Rows& rows) noexcept;
    [[nodiscard]] Step stepOdd(const Frame& from, Frame& to, const Row& row) noexcept;
    [[nodiscard]] Step stepSignal(const Frame& from, Frame& to) noexcept;
    [[nodiscard]] bool load(Frame& to) noexcept;
    [[nodiscard]] static bool holds(const Frame& inner, const Frame& outer) noexcept;
    std::size_t walk(Frame here, Rows& rows) noexcept;
    StackId name(std::size_t base, NodeTable& nodes) noexcept;
    StackId nameCut(std::size_t base, NodeTable& nodes) noexcept;

    Window window_;
    StackMemory* memory_ = nullptr;
    std::size_t count_ = 0;          ///< of `frames_`
    std::size_t fresh_ = 0;          ///< of `walked_`
    bool own_ = false;               ///< all of `frames_` were on the thread's own stack
    std::array<Frame, most> walked_; ///< innermost first
    std::array<Frame, most> frames_;
};

} // namespace heapwright::stacks
