// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A running process, stopped while this object lives: each of its threads, wherever it is. What the
// threads have in registers is told, for a pointer may be nowhere else. When the object goes, or
// this program dies, the process runs on as if nothing had been.
#pragma once

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace heapwright::leakscan {

class Stopped {
public:
    /// Throws std::system_error if the process may not be traced.
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
