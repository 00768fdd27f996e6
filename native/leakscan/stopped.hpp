// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Stops a running process, all its threads, while this object lives. It reports the registers of
// the threads, because a pointer may be only there. When the object is destroyed, or this program
// dies, the process continues unchanged.
#pragma once

#include <chrono>
#include <cstdint>
#include <sys/types.h>
#include <unordered_map>
#include <vector>

namespace heapwright::leakscan {

class Stopped {
public:
    /// Throws std::system_error if the process cannot be traced. A thread that does not stop within
    /// two seconds, such as one that waits for a disk, makes it std::errc::timed_out.
    explicit Stopped(pid_t pid);
    ~Stopped();
    Stopped(const Stopped&) = delete;
    Stopped& operator=(const Stopped&) = delete;

    const std::vector<std::uint64_t>& registers() const { return registers_; }
    const std::vector<std::uint64_t>& stackPointers() const { return stackPointers_; }

private:
    bool stopNew(pid_t pid);
    void stop(pid_t thread);

    void continueAll();

    std::unordered_map<pid_t, int> threads_; ///< with the signal that each has still to receive
    std::chrono::steady_clock::time_point deadline_;
    std::vector<std::uint64_t> registers_;
    std::vector<std::uint64_t> stackPointers_;
};

} // namespace heapwright::leakscan
