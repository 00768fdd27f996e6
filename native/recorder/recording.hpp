// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The state that all threads of a recorded process share: the trace, the gate and the clock. It
// starts at the first allocation of the process, and starts again in the forked child. It ends with
// the process, possibly without notice.
//
// Invariants:
// - The gate is a word on a page that the kernel clears in a forked child, as it clears the streams
// of
//   the threads. A child therefore never writes into the blocks of its parent. The common path only
//   looks for room in the stream.
// - A vfork child shares memory, heap and streams with its parent. Its calls count as the parent's.
// - Before `begin`, and without a trace, the gate is shut and no thread has a stream.
#pragma once

#include "file.hpp"
#include "trace/encoder.hpp"

#include <atomic>
#include <cstdint>
#include <heapwright/platform/ticks.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <string_view>

namespace heapwright::recorder {

/// The values of the gate.
enum Gate : std::uint32_t {
    newProcess =
        0, ///< as the kernel leaves it after a fork: `Recording::afterFork` is to be called
    open = 1,
    shut = 2, ///< nothing of this process is recorded
};

/// The environment variable with the path of the trace.
inline constexpr char traceVariable[] = "HEAPWRIGHT_TRACE";
/// The number of a signal that turns recording off and on; not set if there is none.
inline constexpr char signalVariable[] = "HEAPWRIGHT_TOGGLE_SIGNAL";
/// The number of a signal that names its moment in the trace; not set if there is none.
inline constexpr char markSignalVariable[] = "HEAPWRIGHT_MARK_SIGNAL";

class Recording {
public:
    /// How far launchers shift the processor's counter: a tick is some nanoseconds then.
    static constexpr unsigned plainShift = 3;
    /// The same where there are stacks: what happens between two events takes longer then.
    static constexpr unsigned stackShift = 5;

    /// Whether recording is on. Pre: the thread has a block, so the trace is this process's.
    [[gnu::always_inline]] bool isRecording() const noexcept {
        return std::atomic_ref(file_.header()->recording).load(std::memory_order_relaxed) != 0;
    }

    /// Whether a call is to be recorded now. Any thread may ask.
    bool wants() noexcept {
        if (!isOpen() &&
            !(gate_->load(std::memory_order_relaxed) == Gate::newProcess && afterFork())) {
            return false;
        }
        return isRecording();
    }

    /// Whether calls are recorded in the common way: all of them, without stacks, by the
    /// processor's clock.
    bool isPlain() const noexcept {
        return steady_ && shift_ == plainShift && !stacks_ && sampleBelow_ == 0;
    }

    /// The time in ticks where that is so.
    [[gnu::always_inline]] std::uint64_t plainClock() const noexcept {
        return platform::ticks() >> plainShift;
    }

    /// The time in ticks, as the trace's clock has it.
    [[gnu::always_inline]] std::uint64_t clock() const noexcept {
        if (steady_) [[likely]] {
            return platform::ticks() >> shift_;
        }
        return platform::clockNanoseconds(CLOCK_MONOTONIC);
    }

    /// Ticks since the trace began.
    std::uint64_t now() const noexcept { return clock() - startTicks_; }

    bool takesStacks() const noexcept { return stacks_; }
    bool samples() const noexcept { return sampleBelow_ != 0; }

    /// Whether the block at this address is recorded. An allocation and its free get the same
    /// answer.
    bool samples(const void* address) const noexcept {
        constexpr std::uint64_t multiplier = 0x9E37'79B9'7F4A'7C15;
        const std::uint64_t mixed =
            (reinterpret_cast<std::uintptr_t>(address) ^ sampleSalt_) * multiplier;
        return ((mixed ^ (mixed >> 32)) * multiplier) < sampleBelow_;
    }

    /// Joins the trace that the environment names, if it names one; called once.
    void begin() noexcept;

    /// In the child of a fork: whether it is to be recorded, after this has seen to it.
    [[gnu::cold, gnu::noinline]] bool afterFork() noexcept;

    /// The same, called by the handler of fork, which knows for certain.
    void noteForkInChild() noexcept;

    /// Whether this process is recorded, or would be if recording were not paused.
    bool isOpen() const noexcept { return gate_->load(std::memory_order_relaxed) == Gate::open; }

    /// Records the orderly end of the process.
    void end() noexcept;

    /// Ends the recording of this process, which continues. No thread begins a block from now on.
    void leave() noexcept;

    /// Gives up the file's descriptor. Pre: no thread records from now on.
    void closeFile() noexcept { file_.close(); }

    /// Turns recording on or off, unless it has stopped for good.
    void toggle() noexcept;

    /// Gives this moment a name in the trace, unless nothing is recorded now. `signal` is 0, or the
    /// signal that caused the mark. Signal handlers may call this.
    void mark(std::string_view name, std::uint32_t signal) noexcept;

    /// A block for one of this process's tables, its header filled in and open; null if there are
    /// no more.
    trace::BlockHeader* claimTable(trace::BlockKind kind, std::size_t bytes) noexcept;

    /// The properties of the next block of a thread.
    struct NextBlock {
        std::uint32_t thread;
        std::uint32_t sequence;
        std::uint8_t sizeShift;
        void* tables; ///< trace::BlockStart::tables
    };
    /// A block for the events of a thread, begun with `encoder`; false if there are no more.
    bool claimEvents(trace::Encoder& encoder, const NextBlock& next) noexcept;

    /// The next number of a thread.
    std::uint32_t takeThreadNumber() noexcept;

    void countLost() noexcept;

    /// The recorder has mapped memory for itself in this process. Any thread may call.
    void noteOwnMemory(const void* pages, std::size_t bytes) noexcept;

private:
    bool join() noexcept;
    void enterProcess(trace::Cause cause, std::uint32_t parent) noexcept;
    void beginStacks() noexcept;

    static constexpr std::size_t tableKinds = 8;
    static constinit std::atomic<std::uint32_t> shutGate_;

    std::atomic<std::uint32_t>* gate_ = &shutGate_;
    TraceFile file_;
    std::uint64_t startTicks_ = 0;
    std::uint64_t sampleBelow_ = 0; ///< 0: everything is recorded
    std::uint64_t sampleSalt_ = 0;
    std::uint32_t shift_ = 0;
    std::uint32_t process_ = trace::noProcess;
    std::uint32_t pid_ = 0;
    std::atomic<std::uint32_t> tables_[tableKinds] = {}; ///< blocks of each kind so far
    FutexLock processLock_;                              ///< taken to write into `processBlock_`
    trace::BlockHeader* processBlock_ = nullptr;
    FutexLock markLock_; ///< taken to write into `markBlock_`, with all signals blocked
    trace::BlockHeader* markBlock_ = nullptr;
    bool steady_ = false;
    bool stacks_ = false;
    bool followed_ = false;
};

extern Recording recording;

} // namespace heapwright::recorder
