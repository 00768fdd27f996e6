// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "thread.hpp"

#include <algorithm>
#include <csignal>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace heapwright::attach {

namespace {

constexpr std::chrono::microseconds interval{30};
constexpr std::chrono::milliseconds forRelease{20};

/// Traced threads that had not stopped when they were released.
std::vector<pid_t>& lateThreads() {
    static std::vector<pid_t> ids;
    return ids;
}

bool isEvent(int status) {
    return status >> 16 == PTRACE_EVENT_STOP;
}

/// Lets a thread continue that has this status, with the signal that it stopped for.
void detach(pid_t id, int status) {
    const bool isSignal = WIFSTOPPED(status) && status >> 16 == 0 && (WSTOPSIG(status) & 0x80) == 0;
    ptrace(PTRACE_DETACH, id, nullptr, isSignal ? static_cast<long>(WSTOPSIG(status)) : 0L);
}

} // namespace

std::optional<Thread> Thread::ask(pid_t id) {
    if (ptrace(PTRACE_SEIZE, id, nullptr, PTRACE_O_TRACESYSGOOD) != 0) {
        return std::nullopt;
    }
    ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
    return Thread(id);
}

bool Thread::hasStopped(Clock::time_point deadline) {
    std::optional<int> status = waitForStop(deadline);
    // A signal may arrive first. The thread gets it now, and stops before it runs its handler.
    while (status && WIFSTOPPED(*status) && !isEvent(*status)) {
        status = resume(PTRACE_CONT, WSTOPSIG(*status), deadline);
    }
    // The event of a group stop has the number of the signal that stopped the process.
    return status && WIFSTOPPED(*status) && WSTOPSIG(*status) == SIGTRAP &&
           ptrace(PTRACE_GETREGS, id_, nullptr, &registers_) == 0;
}

Thread::Thread(Thread&& other) noexcept
    : id_(other.id_), signal_(other.signal_), registers_(other.registers_) {
    other.id_ = 0;
}

Thread::~Thread() {
    release();
}

void Thread::release() {
    if (id_ != 0) {
        if (ptrace(PTRACE_DETACH, id_, nullptr, static_cast<long>(signal_)) != 0) {
            // It runs: it did not stop in time. The kernel detaches it only when it stops.
            ptrace(PTRACE_INTERRUPT, id_, nullptr, nullptr);
            if (const auto status = waitForStop(Clock::now() + forRelease)) {
                detach(id_, *status);
            } else {
                lateThreads().push_back(id_);
            }
        }
        id_ = 0;
    }
}

void Thread::releaseLate() {
    std::erase_if(lateThreads(), [](pid_t id) {
        int status = 0;
        const pid_t waited = waitpid(id, &status, __WALL | WNOHANG);
        if (waited == id) {
            detach(id, status);
        }
        return waited != 0;
    });
}

bool Thread::isLate(pid_t id) {
    const std::vector<pid_t>& late = lateThreads();
    return std::find(late.begin(), late.end(), id) != late.end();
}

std::optional<int> Thread::resume(int request, int signal, Clock::time_point deadline) {
    if (ptrace(static_cast<__ptrace_request>(request), id_, nullptr, static_cast<long>(signal)) !=
        0) {
        return std::nullopt;
    }
    return waitForStop(deadline);
}

std::optional<int> Thread::waitForStop(Clock::time_point deadline) const {
    int status = 0;
    pid_t waited = 0;
    while ((waited = waitpid(id_, &status, __WALL | WNOHANG)) == 0) {
        if (Clock::now() > deadline) {
            return std::nullopt;
        }
        std::this_thread::sleep_for(interval);
    }
    return waited == id_ ? std::optional<int>(status) : std::nullopt;
}

} // namespace heapwright::attach
