// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's state, put out of sight while a signal handler runs that interrupted its use, and back
// in its place afterwards: so the use itself needs no flag, no lock and no atomic step.
//
// What a handler finds is `State{}`, which must be a state that refuses everything. A handler may
// be interrupted by another at any instruction, these ones too: every step can be done twice, and
// who interrupts one does the rest of it. A handler that never returns (siglongjmp, a context
// switched to, the end of its thread) is noticed by the stack: it is over when the thread no longer
// runs in the part below where it began. Handlers that interrupt each other are told apart in that
// way up to a depth; beyond it they count as their outer one.
//
// Cost: nothing for who is not interrupted; a handler that did interrupt copies the state twice.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/thread.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heapwright {

/// The addresses in which a handler's frames lie; `top` is where it began.
struct StackPart {
    Address bottom;
    Address top;

    /// A handler that leaves this much of the ordinary stack is taken to have left for good.
    static constexpr std::size_t most = 1 * MiB;

    /// Pre: the alternate stack on which the handler runs begins at `alternate`; 0 if it runs on
    /// the stack that it interrupted.
    [[nodiscard]] static constexpr StackPart below(Address top, Address alternate) noexcept {
        return {alternate != 0 ? alternate : top - std::min(top, most), top};
    }
    [[nodiscard]] constexpr bool contains(Address address) const noexcept {
        return address >= bottom && address < top;
    }
};

template <class State>
    requires std::is_trivially_copyable_v<State> && std::is_default_constructible_v<State>
class SuspendedState {
    enum class Phase : std::uint8_t { visible, hidden, returning };
    static constexpr std::size_t depths = 8;

    struct Mine {
        State kept{};
        State* place = nullptr; ///< where it belongs
        std::array<StackPart, depths> parts{};
        std::uint32_t depth = 0; ///< handlers that have begun since it was hidden
        std::uint32_t times = 0; ///< how often it was hidden or has come back by itself
        Phase phase = Phase::visible;
    };
    using Thread = platform::PerThread<SuspendedState, Mine>;

public:
    /// What a handler has to remember while it runs.
    class Before {
        friend SuspendedState;
        std::uint32_t depth = 0;
        std::uint32_t times = 0;
        Phase phase = Phase::visible;
    };

    [[nodiscard]] static bool isSuspended() noexcept {
        return Thread::mine().phase != Phase::visible;
    }

    /// Hides this thread's state, which is `state`, from a handler that begins at `part.top`.
    [[nodiscard]] static Before hide(State& state, StackPart part) noexcept {
        Mine& mine = Thread::mine();
        Before before;
        before.phase = mine.phase;
        if (before.phase == Phase::visible) {
            mine.kept = state;
            mine.place = &state;
            mine.depth = 0;
            ++mine.times;
        }
        step(mine, Phase::hidden);
        state = State{};
        before.depth = mine.depth;
        before.times = mine.times;
        enter(mine, part);
        fence();
        return before;
    }

    /// The handler has returned.
    static void show(const Before& before) noexcept {
        Mine& mine = Thread::mine();
        if (mine.times != before.times || mine.phase == Phase::visible) {
            return; // it had been taken for left, and was
        }
        fence();
        mine.depth = before.depth;
        if (before.phase != Phase::hidden) {
            bringBackAs(mine, before.phase);
        }
    }

    /// Whether a thread whose state is hidden is still in a handler, now that it runs at `here`. If
    /// it is not, its state is back.
    static bool stillSuspended(Address here) noexcept {
        Mine& mine = Thread::mine();
        if (mine.phase == Phase::visible) {
            return false;
        }
        while (mine.depth != 0 && !mine.parts[mine.depth - 1].contains(here)) {
            --mine.depth;
        }
        if (mine.depth != 0) {
            return true;
        }
        bringBack();
        return false;
    }

    /// Puts the state back in its place now, whatever handler there is: the thread ends.
    static void bringBack() noexcept {
        Mine& mine = Thread::mine();
        if (mine.phase != Phase::visible) {
            ++mine.times;
            bringBackAs(mine, Phase::visible);
        }
    }

private:
    static void fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

    static void step(Mine& mine, Phase phase) noexcept {
        fence();
        mine.phase = phase;
        fence();
    }

    /// The depth first: who interrupts in between uses the next place.
    static void enter(Mine& mine, StackPart part) noexcept {
        const std::uint32_t depth = mine.depth;
        if (depth < depths) {
            mine.depth = depth + 1;
            fence();
            mine.parts[depth] = part;
        }
    }

    static void bringBackAs(Mine& mine, Phase phase) noexcept {
        step(mine, Phase::returning);
        *mine.place = mine.kept;
        step(mine, phase);
    }
};

} // namespace heapwright
