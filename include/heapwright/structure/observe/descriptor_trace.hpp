// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a trace as lines of text to a descriptor, through a buffer of `BufferBytes`. The buffer is
// written when it is full, on `flush`, when the sink is destroyed, and when the process ends by
// `exit`. A process that is killed, aborts or calls `_exit` loses its contents. `Destination::open`
// returns the descriptor before the first write; -1 means none.
//
// A failed write ends the trace, not the program. The earlier lines remain, the last one perhaps in
// part, and all later records are counted in `lost`. The same holds when the program has closed the
// descriptor, even if its number is now that of another file. A slow reader delays the program.
// `forked` drops the parent's buffered lines, which the parent flushed before the fork. If each
// process has its own destination, it opens the child's.
//
// Invariant: the buffer contains whole lines only. A record waits for a flush by another thread. A
// record made in a handler that interrupted a flush of its own thread is lost.
// Cost: formatting the text.
#pragma once

#include <heapwright/platform/output.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/structure/observe/fixed_text.hpp>
#include <heapwright/structure/observe/trace_record.hpp>

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heapwright {

/// The destination of a trace, and whether a new process opens one of its own.
template <class D>
concept TraceDestination = requires {
    { D::open() } noexcept -> std::same_as<int>;
    { D::perProcess } -> std::convertible_to<bool>;
};

/// Standard error.
struct ToStandardError {
    static constexpr bool perProcess = false;
    static int open() noexcept { return STDERR_FILENO; }
};

/// The file named by the environment variable HEAPWRIGHT_TRACE, followed by a dot and the process
/// number. No destination if the variable is not set.
struct ToFilePerProcess {
    static constexpr bool perProcess = true;
    static int open() noexcept {
        const std::string_view path = platform::environmentVariable("HEAPWRIGHT_TRACE");
        FixedText<4096> name;
        name.put(path).put('.').putNumber(platform::processNumber()).put('\0');
        return path.empty() || name.cut() ? -1 : platform::createFile(name.view().data());
    }
};

template <TraceDestination Destination, std::size_t BufferBytes>
class DescriptorTrace {
    static_assert(BufferBytes >= longestTraceLine);

public:
    constexpr DescriptorTrace() noexcept = default;
    DescriptorTrace(const DescriptorTrace&) = delete;
    DescriptorTrace& operator=(const DescriptorTrace&) = delete;
    ~DescriptorTrace() {
        if (atEnd_.load(std::memory_order_relaxed) == this) {
            atEnd_.store(nullptr, std::memory_order_relaxed);
        }
        flush();
        close();
    }

    void write(const TraceRecord& record) noexcept {
        const Turn turn(busy_);
        if (!turn.had || state_ == State::ended) {
            ++lost_;
            return;
        }
        const auto line = lineOf(record);
        if (line.view().size() > BufferBytes - length_) {
            pass();
        }
        std::memcpy(buffer_.data() + length_, line.view().data(), line.view().size());
        length_ += line.view().size();
        ++waiting_;
        static_cast<void>(&ending_); // a use, so that the variable exists
        atEnd_.store(this, std::memory_order_relaxed);
    }

    void flush() noexcept {
        const Turn turn(busy_);
        if (turn.had) {
            pass();
        }
    }

    void forked() noexcept {
        busy_.clear();
        length_ = waiting_ = 0;
        if (Destination::perProcess && state_ != State::unopened) {
            close();
            lost_ = 0;
        }
    }

    /// The number of records that were not written.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

private:
    enum class State : std::uint8_t { unopened, open, ended };

    /// Mutual exclusion with a limited wait, because the holder may be this thread.
    struct Turn {
        explicit Turn(std::atomic_flag& flag) noexcept : busy(flag) {
            for (int i = 0; i < 1'000'000 && !had; ++i) {
                had = !busy.test_and_set(std::memory_order_acquire);
                if (!had) {
                    platform::pauseBriefly();
                }
            }
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        ~Turn() {
            if (had) {
                busy.clear(std::memory_order_release);
            }
        }

        std::atomic_flag& busy;
        bool had = false;
    };

    /// Flushes, at the end of the process, the trace of a heap that is never destroyed.
    struct Ending {
        constexpr Ending() noexcept = default;
        ~Ending() {
            DescriptorTrace* const trace = atEnd_.load(std::memory_order_relaxed);
            if (trace != nullptr) {
                trace->flush();
            }
        }
    };

    /// Writes the buffer and empties it.
    void pass() noexcept {
        if (length_ != 0 && state_ == State::unopened) {
            descriptor_ = Destination::open();
            identity_ = platform::identityOf(descriptor_);
            state_ = identity_.known ? State::open : State::ended;
        }
        if (length_ != 0) {
            const bool written = state_ == State::open &&
                                 platform::identityOf(descriptor_) == identity_ &&
                                 platform::writeAll(descriptor_, buffer_.data(), length_);
            if (!written) {
                state_ = State::ended;
                lost_ += waiting_;
            }
        }
        length_ = waiting_ = 0;
    }

    /// Closes the descriptor if `Destination` opened it for this process, and returns to the
    /// initial state.
    void close() noexcept {
        if (Destination::perProcess && descriptor_ >= 0 &&
            platform::identityOf(descriptor_) == identity_) {
            platform::closeFile(descriptor_);
        }
        descriptor_ = -1;
        state_ = State::unopened;
    }

    static inline constinit std::atomic<DescriptorTrace*> atEnd_{nullptr};
    static inline constinit Ending ending_{};

    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    State state_ = State::unopened;
    int descriptor_ = -1;
    platform::FileIdentity identity_{};
    std::size_t length_ = 0;
    std::uint64_t waiting_ = 0; ///< records in the buffer
    std::uint64_t lost_ = 0;
    std::array<char, BufferBytes> buffer_{};
};

} // namespace heapwright
