// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "stopped.hpp"

#include <cerrno>
#include <cstdlib>
#include <elf.h>
#include <filesystem>
#include <string>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>

namespace heapwright::leakscan {

namespace {

#if defined(__aarch64__)
constexpr std::size_t stackWord = 31; ///< in the register set
#else
constexpr std::size_t stackWord = 19;
#endif
constexpr std::chrono::seconds patience{2};
constexpr std::chrono::microseconds interval{50};

} // namespace

Stopped::Stopped(pid_t pid) : deadline_(std::chrono::steady_clock::now() + patience) {
    try {
        while (stopNew(pid)) { // a thread may have started another one before it was stopped
        }
    } catch (...) {
        continueAll();
        throw;
    }
    if (threads_.empty()) {
        throw std::system_error(errno, std::generic_category(), "the process cannot be stopped");
    }
}

Stopped::~Stopped() {
    continueAll();
}

void Stopped::continueAll() {
    for (const auto& [thread, signal] : threads_) {
        ptrace(PTRACE_DETACH, thread, nullptr, static_cast<long>(signal));
    }
}

/// Stops the threads that still run; returns whether there were any.
bool Stopped::stopNew(pid_t pid) {
    const std::size_t before = threads_.size();
    std::error_code none;
    const std::string folder = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        const pid_t thread = std::atoi(entry.path().filename().c_str());
        if (threads_.count(thread) == 0) {
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
    pid_t waited = 0;
    while ((waited = waitpid(thread, &status, __WALL | WNOHANG)) == 0) {
        if (std::chrono::steady_clock::now() > deadline_) {
            throw std::system_error(std::make_error_code(std::errc::timed_out),
                                    "thread " + std::to_string(thread) + " does not stop");
        }
        std::this_thread::sleep_for(interval);
    }
    if (waited != thread || !WIFSTOPPED(status)) {
        return;
    }
    // A thread may have stopped because a signal arrived first. It receives the signal later.
    const bool isInterrupt = status >> 16 == PTRACE_EVENT_STOP;
    threads_.emplace(thread, isInterrupt ? 0 : WSTOPSIG(status));
    std::uint64_t words[64] = {};
    iovec room = {words, sizeof words};
    if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &room) == 0) {
        registers_.insert(registers_.end(), words, words + room.iov_len / sizeof *words);
        stackPointers_.push_back(words[stackWord]);
    }
}

} // namespace heapwright::leakscan
