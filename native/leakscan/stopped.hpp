// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Stops a running process, all its threads, while this object lives. It reports the registers of
// the threads, because a pointer may be only there. When the object is destroyed, or this program
// dies, the process continues unchanged.
#pragma once

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace heapwright::leakscan {

class Stopped {
public:
    /// Throws std::system_error if the process cannot be traced.
    explicit Stopped(pid_t pid);
    ~Stopped();
    Stopped(const Stopped&) = delete;
    Stopped& operator=(const Stopped&) = delete;

    const std::vector<std::uint64_t>& registers() const { return registers_; }

private:
    bool stopNew(pid_t pid);
    void stop(pid_t thread);

    std::vector<pid_t> threads_;
    std::vector<std::uint64_t> registers_;
};

} // namespace heapwright::leakscan
