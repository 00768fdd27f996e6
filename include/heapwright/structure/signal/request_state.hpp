// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of a thread in a heap when a signal interrupts it. `SlowPath` is the flag of the slow
// path. `SuspendedState` takes the state of the fast path away from a handler.
// docs/explanation/signals.md has the state diagram.
//
// In a slow path the thread holds locks and lists are incomplete, so the thread sets a flag. The
// fast path sets no flag. Instead, the function that runs a handler (the trampoline) saves the
// thread's fast-path state before the handler. It replaces the state by `State{}`, with which the
// fast path refuses every request. It restores the state after the handler.
//
// A second handler may interrupt these steps at any instruction, also in a copy that the C library
// makes. Every step can be done twice, and the inner trampoline completes the outer one's step. The
// outer trampoline notes its frame until its part of the stack is known. So the inner one does not
// mistake it for a handler that was left. A handler may never return (siglongjmp, a
// switch of contexts, the end of the thread). The thread then runs outside the stack part below the
// handler's first frame, which `checkSuspended` detects. Nested handlers are distinguished up to a
// depth of 8. Deeper handlers count as part of the eighth.
//
// Pre: `State{}` makes the fast path refuse every request.
// Cost: the fast path pays nothing. A handler that interrupted the heap copies the state twice.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/thread.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace heapwright {

/// Whether the calling thread is in a slow path of a heap, one flag for all heaps of the process.
/// Code that enters a heap other than through its verbs, such as the thread exit hook, sets it too.
class SlowPath {
    using Inside = platform::PerThread<SlowPath, bool>;

public:
    [[nodiscard]] static bool entered() noexcept { return Inside::mine(); }

    /// Sets the flag beyond a scope and returns its old value. The fences keep accesses to the heap
    /// between two calls, as a handler on this thread sees them.
    static bool mark(bool inside) noexcept {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        const bool before = std::exchange(Inside::mine(), inside);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return before;
    }

    /// Sets the flag for a scope.
    class Entry {
    public:
        Entry() noexcept : before_(mark(true)) {}
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        ~Entry() { mark(before_); }

    private:
        bool before_;
    };
};

/// The addresses that contain the frames of a handler; `top` is the address of its first frame.
struct StackPart {
    Address bottom;
    Address top;

    /// Bytes of the ordinary stack that a handler may use. Beyond them it counts as left.
    static constexpr std::size_t most = 1 * MiB;

    /// Pre: `alternate` is the start of the alternate stack on which the handler runs, or 0 if it
    /// runs on the interrupted stack.
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
    enum class Phase : std::uint8_t { active, suspended, restoring };
    static constexpr std::size_t depths = 8;

    struct ThreadData {
        State saved{};
        State* location = nullptr;             ///< address of the state in the heap
        std::array<StackPart, depths> parts{}; ///< stack parts of the handlers that run
        std::uint32_t depth = 0;               ///< number of handlers since the suspension
        std::uint32_t generation = 0;          ///< changes when a handler has become obsolete
        Address entering = 0; ///< the frame of the trampoline that suspends the state; or 0
        Phase phase = Phase::active;
    };
    using Thread = platform::PerThread<SuspendedState, ThreadData>;

public:
    /// What the trampoline keeps while a handler runs.
    class Before {
        friend SuspendedState;
        std::uint32_t depth = 0;
        std::uint32_t generation = 0;
        Phase phase = Phase::active;
    };

    /// Whether the state is suspended, or a trampoline is about to suspend it.
    [[nodiscard]] static bool isSuspended() noexcept {
        const ThreadData& data = Thread::mine();
        return data.phase != Phase::active || data.entering != 0;
    }

    /// Suspends this thread's state for a handler whose first frame is at `part.top`.
    /// Pre: `state` is the same object in all calls of a thread.
    [[nodiscard]] static Before suspend(State& state, StackPart part) noexcept {
        ThreadData& data = Thread::mine();
        const Address outer = data.entering;
        data.entering = part.top;
        fence();
        Before before;
        before.phase = data.phase;
        if (before.phase == Phase::active) {
            data.saved = state;
            data.location = &state;
            data.depth = 0;
            ++data.generation;
        }
        step(data, Phase::suspended);
        state = State{};
        before.depth = data.depth;
        before.generation = data.generation;
        push(data, part);
        fence();
        data.entering = outer;
        return before;
    }

    /// Ends the suspension of a handler that has returned. The outermost one restores the state.
    static void resume(const Before& before) noexcept {
        ThreadData& data = Thread::mine();
        if (data.generation != before.generation || data.phase == Phase::active) {
            return; // this handler was detected as left, and the state was restored
        }
        fence();
        data.depth = before.depth;
        if (before.phase != Phase::suspended) {
            restoreTo(data, before.phase);
        }
    }

    /// Whether the thread, which runs at stack address `here`, is still in a handler that suspended
    /// the state.
    /// Post: if not, the state is restored.
    static bool checkSuspended(Address here) noexcept {
        ThreadData& data = Thread::mine();
        if (data.entering != 0) [[unlikely]] {
            if (StackPart::below(data.entering, 0).contains(here)) {
                return true;
            }
            data.entering = 0; // its handler was left
        }
        if (data.phase == Phase::active) {
            return false;
        }
        while (data.depth != 0 && !data.parts[data.depth - 1].contains(here)) {
            --data.depth;
        }
        if (data.depth != 0) {
            return true;
        }
        restore();
        return false;
    }

    /// Restores the state even if handlers run, because the thread ends.
    static void restore() noexcept {
        ThreadData& data = Thread::mine();
        data.entering = 0;
        if (data.phase != Phase::active) {
            ++data.generation;
            restoreTo(data, Phase::active);
        }
    }

private:
    static void fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

    static void step(ThreadData& data, Phase phase) noexcept {
        fence();
        data.phase = phase;
        fence();
    }

    /// Adds a handler. The depth changes first, so that an inner handler uses the next element.
    static void push(ThreadData& data, StackPart part) noexcept {
        const std::uint32_t depth = data.depth;
        if (depth < depths) {
            data.depth = depth + 1;
            fence();
            data.parts[depth] = part;
        }
    }

    static void restoreTo(ThreadData& data, Phase phase) noexcept {
        step(data, Phase::restoring);
        *data.location = data.saved;
        step(data, phase);
    }
};

} // namespace heapwright
