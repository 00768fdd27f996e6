// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a trace as lines of text to a descriptor, through a buffer of its own of `BufferBytes`:
// when it is full, on `flush`, when the sink is destroyed, and when the process ends by `exit` (a
// process that is killed, aborts or calls `_exit` loses what is in it). `Destination::open` says
// where to, when the first buffer is written; -1 is nowhere.
//
// A write that fails ends the trace, not the program: what came before stands, the last line
// perhaps in part, and every record from then on is counted in `lost`. So it is when the program
// has closed the descriptor, even if the number is another file's by now. A reader that is slow is
// waited for. `forked` drops what the parent has in its buffer (it flushes before it forks) and,
// where the destination is one of each process, opens the child's own.
//
// Invariant: the buffer holds whole lines only. A record that meets a flush on another thread waits
// for it; one that meets its own thread's, in a handler, is lost. Cost: making the text.
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

/// Says where a trace goes, and whether a new process opens a destination of its own.
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

/// The file that the environment variable HEAPWRIGHT_TRACE names, with a dot and the number of the
/// process behind it; nowhere if the variable is not set.
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
        static_cast<void>(&ending_); // so that it exists
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

    /// How many records were not written.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

private:
    enum class State : std::uint8_t { unopened, open, ended };

    /// One at a time: waits for another thread, but not for ever, for it might be this one.
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

    /// Flushes at the end of the process what a heap that is never destroyed has left.
    struct Ending {
        constexpr Ending() noexcept = default;
        ~Ending() {
            DescriptorTrace* const trace = atEnd_.load(std::memory_order_relaxed);
            if (trace != nullptr) {
                trace->flush();
            }
        }
    };

    /// Writes the buffer, and begins it anew.
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

    /// Closes what `Destination` opened for this process alone, and is as before the first record.
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
