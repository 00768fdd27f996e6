// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Signal handlers that allocate while they interrupt the allocator. No standard allows it, but
// programs do it: a handler that logs, a crash reporter.
#include "conformance/suite.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace conformance;

#ifndef sigev_notify_thread_id // glibc before 2.37 has no name for it
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace {

// A case ends after this number of signals, at any rate of the machine.
constexpr long manySignals = 3000;
constexpr long manyForks = 60;
constexpr long signalsPerFork = 40;

std::atomic<long> handled{0};
void* keptByHandler[32];

void allocateInHandler(int) {
    const int saved = errno;
    const auto turn = static_cast<std::size_t>(handled.fetch_add(1));
    const std::size_t size = 1 + turn * 37 % 900;
    void* object = std::malloc(size);
    require(object != nullptr, "malloc gave nothing in a handler");
    requireAligned(object, alignmentFor(size));
    fill(object, size, 3);
    object = std::realloc(object, size * 2);
    require(object != nullptr, "realloc gave nothing in a handler");
    requireFilled(object, size, 3);
    // Every other object outlives the handler. A later handler or the program frees it.
    void*& slot = keptByHandler[turn % 32];
    std::free(slot);
    slot = turn % 2 == 0 ? object : nullptr;
    if (slot == nullptr) {
        std::free(object);
    }
    void* zeroed = std::calloc(3, 50);
    require(zeroed != nullptr, "calloc gave nothing in a handler");
    requireZero(zeroed, 150);
    std::free(zeroed);
    errno = saved;
}

void onSignal(void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    require(::sigaction(SIGUSR1, &action, nullptr) == 0, "sigaction");
}

/// The program's own work: objects of all sizes, kept for a while, resized, checked.
void workUntilHandled(long signals) {
    constexpr std::size_t count = 200;
    static void* objects[count];
    static std::size_t sizes[count];
    Random random(5);
    while (handled < signals) {
        for (int step = 0; step < 200; ++step) {
            const std::size_t i = random.below(count);
            const std::size_t size = 1 + random.below(std::size_t{1} << random.below(18));
            const std::size_t kept = sizes[i] < size ? sizes[i] : size;
            objects[i] = std::realloc(objects[i], size);
            require(objects[i] != nullptr, "realloc gave nothing");
            requireFilled(objects[i], kept < 64 ? kept : 64, static_cast<unsigned>(i));
            fill(objects[i], size < 64 ? size : 64, static_cast<unsigned>(i));
            sizes[i] = size;
            void* brief = std::malloc(random.below(100));
            std::free(brief);
            if (random.below(4) == 0) {
                std::free(objects[i]);
                objects[i] = nullptr;
                sizes[i] = 0;
            }
        }
    }
    for (void*& object : objects) {
        std::free(object);
        object = nullptr;
    }
}

/// Signals the process, or one thread of it, every 25 µs.
void startTimer(timer_t& timer, pid_t thread = 0) {
    sigevent event = {};
    event.sigev_notify = thread == 0 ? SIGEV_SIGNAL : SIGEV_THREAD_ID;
    event.sigev_signo = SIGUSR1;
    event.sigev_notify_thread_id = thread;
    require(::timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
    const timespec period = {0, 25'000};
    const itimerspec spec = {period, period};
    require(::timer_settime(timer, 0, &spec, nullptr) == 0, "timer_settime");
}

void freeKept() {
    for (void*& object : keptByHandler) {
        std::free(object);
        object = nullptr;
    }
}

void timer() {
    onSignal(allocateInHandler);
    timer_t id{};
    startTimer(id);
    workUntilHandled(manySignals);
    ::timer_delete(id);
    freeKept();
}

std::atomic<bool> working{true};

/// As above, without data that handlers in two threads would share.
void allocateInAnyThread(int) {
    const int saved = errno;
    void* object = std::malloc(100);
    require(object != nullptr, "malloc gave nothing in a handler");
    fill(object, 100, 6);
    object = std::realloc(object, 5000);
    require(object != nullptr, "realloc gave nothing in a handler");
    requireFilled(object, 100, 6);
    std::free(object);
    ++handled;
    errno = saved;
}

void* workAlways(void* seed) {
    Random random(reinterpret_cast<std::uintptr_t>(seed));
    while (working) {
        void* object = std::malloc(random.size());
        void* other = std::calloc(1, random.below(300));
        std::free(object);
        std::free(other);
    }
    return nullptr;
}

/// As above, interrupted by a timer of the thread's own.
void* workInterrupted(void* seed) {
    timer_t id{};
    startTimer(id, static_cast<pid_t>(::syscall(SYS_gettid)));
    workAlways(seed);
    ::timer_delete(id);
    return nullptr;
}

// A signal of another thread arrives only after that thread has had a processor. On a busy machine
// that is once in a time slice, so timers of the threads deliver most of the signals.
void threads() {
    onSignal(allocateInAnyThread);
    pthread_t workers[2];
    for (pthread_t& worker : workers) {
        require(::pthread_create(&worker, nullptr, workInterrupted, hide(&worker)) == 0,
                "pthread_create");
    }
    while (handled < manySignals) {
        for (const pthread_t worker : workers) {
            ::pthread_kill(worker, SIGUSR1);
        }
        ::sched_yield();
    }
    working = false;
    for (const pthread_t worker : workers) {
        ::pthread_join(worker, nullptr);
    }
}

void forkInHandler(int) {
    const int saved = errno;
    if (handled.fetch_add(1) % signalsPerFork == 0) {
        const pid_t child = ::fork();
        require(child >= 0, "fork");
        if (child == 0) {
            ::signal(SIGUSR1, SIG_IGN);
            ::signal(SIGALRM, SIG_DFL);
            ::alarm(20);
            void* object = std::malloc(300);
            require(object != nullptr, "malloc gave nothing in the child");
            fill(object, 300, 2);
            std::free(object);
            ::_exit(0);
        }
        expectSuccess(child, "a child forked in a handler");
    }
    errno = saved;
}

void forks() {
    onSignal(forkInHandler);
    timer_t id{};
    startTimer(id);
    workUntilHandled(manyForks * signalsPerFork);
    ::timer_delete(id);
}

bool isChild = false;

void forkAndReturn(int) {
    const int saved = errno;
    if (!isChild && handled.fetch_add(1) % signalsPerFork == 0) {
        const pid_t child = ::fork();
        require(child >= 0, "fork");
        if (child == 0) {
            isChild = true; // continues the interrupted request, unless that hangs
            ::signal(SIGALRM, SIG_DFL);
            ::alarm(20);
        } else {
            expectSuccess(child, "a child that returned into malloc");
        }
    }
    errno = saved;
}

/// Allocates until there were enough forks. In a child, allocates a little more and ends it.
void workAndFork() {
    timer_t id{};
    startTimer(id);
    Random random(6);
    while (handled < manyForks * signalsPerFork && !isChild) {
        for (int step = 0; step < 100 && !isChild; ++step) {
            void* object = std::malloc(random.size());
            void* other = std::realloc(std::malloc(10), random.below(5000) + 1);
            require(object != nullptr && other != nullptr, "malloc gave nothing");
            std::free(object);
            std::free(other);
        }
    }
    ::signal(SIGUSR1, SIG_IGN);
    if (isChild) {
        for (int step = 0; step < 1000; ++step) {
            std::free(std::malloc(random.size()));
        }
        ::_exit(0);
    }
    ::timer_delete(id);
}

void returns() {
    onSignal(forkAndReturn);
    workAndFork();
}

void returnsAmongThreads() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGUSR1);
    onSignal(forkAndReturn);
    // Only this thread is to be interrupted.
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    pthread_t workers[2];
    for (pthread_t& worker : workers) {
        require(::pthread_create(&worker, nullptr, workAlways, hide(&worker)) == 0,
                "pthread_create");
    }
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    workAndFork();
    working = false;
    for (const pthread_t worker : workers) {
        ::pthread_join(worker, nullptr);
    }
}

const Case cases[] = {
    {"signal-timer", Demand::robust,
     "a timer's handler allocates while it interrupts malloc, realloc and free", timer},
    {"signal-threads", Demand::robust,
     "handlers allocate in several threads that allocate, signalled by timers and by another "
     "thread",
     threads},
    {"signal-fork", Demand::robust, "a handler that interrupts malloc forks, and both sides go on",
     forks},
    {"signal-fork-returns", Demand::robust,
     "the child of such a fork returns into the interrupted malloc and finishes it", returns},
    {"signal-fork-threads", Demand::robust,
     "the same while other threads allocate, so that malloc may have been waiting",
     returnsAmongThreads},
};

} // namespace
