// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "thread.hpp"

#include <csignal>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>

namespace heapwright::attach {

namespace {

constexpr std::chrono::microseconds interval{30};

bool isEvent(int status) {
    return status >> 16 == PTRACE_EVENT_STOP;
}

} // namespace

std::optional<Thread> Thread::stop(pid_t id, Clock::time_point deadline) {
    std::optional<Thread> thread = ask(id);
    if (thread && !thread->hasStopped(deadline)) {
        thread.reset();
    }
    return thread;
}

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
            if (waitForStop(Clock::now() + std::chrono::seconds(1))) {
                ptrace(PTRACE_DETACH, id_, nullptr, nullptr);
            }
        }
        id_ = 0;
    }
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
