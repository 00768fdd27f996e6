// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "stopped.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <elf.h>
#include <filesystem>
#include <string>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <system_error>

namespace heapwright::leakscan {

Stopped::Stopped(pid_t pid) {
    while (stopNew(pid)) { // a thread may have started another one before it was stopped
    }
    if (threads_.empty()) {
        throw std::system_error(errno, std::generic_category(), "the process cannot be stopped");
    }
}

Stopped::~Stopped() {
    for (const pid_t thread : threads_) {
        ptrace(PTRACE_DETACH, thread, nullptr, nullptr);
    }
}

/// Stops the threads that still run; returns whether there were any.
bool Stopped::stopNew(pid_t pid) {
    const std::size_t before = threads_.size();
    std::error_code none;
    const std::string folder = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        const pid_t thread = std::atoi(entry.path().filename().c_str());
        if (std::find(threads_.begin(), threads_.end(), thread) == threads_.end()) {
            stop(thread);
        }
    }
    return threads_.size() != before;
}

void Stopped::stop(pid_t thread) {
    if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
        return; // it has ended, or cannot be traced
    }
    ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
    int status = 0;
    if (waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status)) {
        return;
    }
    threads_.push_back(thread);
    std::uint64_t words[64] = {};
    iovec room = {words, sizeof words};
    if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &room) == 0) {
        registers_.insert(registers_.end(), words, words + room.iov_len / sizeof *words);
    }
}

} // namespace heapwright::leakscan
