// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread of another process, stopped. When the object is destroyed, or this program dies, the
// thread continues where it was. A signal that arrived meanwhile is delivered then.
#pragma once

#include "memory.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <sys/user.h>

namespace heapwright::attach {

using Clock = std::chrono::steady_clock;
using Registers = user_regs_struct;

class Thread {
public:
    /// Lets it stop soon. Empty, with errno, if it has ended or cannot be traced.
    static std::optional<Thread> ask(pid_t thread);

    /// Waits for the stop. Returns false if it has ended, or does not stop until `deadline`.
    bool hasStopped(Clock::time_point deadline);

    Thread(Thread&& other) noexcept;
    Thread& operator=(Thread&&) = delete;
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;
    ~Thread();

    pid_t id() const { return id_; }

    /// As they were when it stopped.
    const Registers& registers() const { return registers_; }

    /// The number of the system call in which it was stopped; -1 if it was in none.
    long systemCall() const { return static_cast<long>(registers_.orig_rax); }

    /// Continues and loses the object's hold on the thread. One that has still not stopped is kept
    /// in mind.
    void release();

    /// Lets those threads continue that stopped after their release. To be called now and then.
    static void releaseLate();
    static bool isLate(pid_t thread);

    /// Lets the thread run until its next stop. Returns the status of waitpid; empty at `deadline`.
    std::optional<int> resume(int request, int signal, Clock::time_point deadline);

    /// A signal that arrived while it was held, to be delivered when it continues. Until then the
    /// thread can make no other call.
    void keepSignal(int signal) { signal_ = signal; }
    bool keepsSignal() const { return signal_ != 0; }

private:
    explicit Thread(pid_t id) : id_(id) {}
    std::optional<int> waitForStop(Clock::time_point deadline) const;

    pid_t id_;
    int signal_ = 0;
    Registers registers_ = {};
};

} // namespace heapwright::attach
