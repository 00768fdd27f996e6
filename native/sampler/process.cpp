// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The beginning and the end of a process that is sampled. It installs the signals, follows forks,
// and writes the document at the exit.
#include "recorder/stacks/stacks.hpp"
#include "sampling.hpp"
#include "trace/blocks.hpp"

#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/pages.hpp>

#include <preload/stream_list.hpp>

#include <cstdlib>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::sampler {

namespace {

constinit std::atomic<std::uint32_t> begun{0}; ///< 1: a thread is initialising; 2: done
constinit std::atomic<std::uint64_t> threads{0};

// The unwinder writes its tables into blocks of a trace. Here no trace reads them, so a full block
// is released.
void* claimBlock(recorder::stacks::Table table, std::size_t bytes) noexcept {
    void* const pages = platform::mapPages(bytes);
    if (pages == nullptr) {
        return nullptr;
    }
    const auto kind = table == recorder::stacks::Table::stacks ? trace::BlockKind::stacks
                                                               : trace::BlockKind::modules;
    const auto shift = static_cast<unsigned>(__builtin_ctzl(bytes / trace::pageSize));
    return trace::beginRecords(pages, kind, shift, 0, 0, 0);
}

void releaseBlock(void* block, std::size_t bytes) noexcept {
    platform::unmapPages(block, bytes);
}

std::uint64_t noTime() noexcept {
    return 0;
}

/// Pre: the thread is inside.
void beginOnce() noexcept {
    std::uint32_t none = 0;
    if (!begun.compare_exchange_strong(none, 1)) {
        return;
    }
    const platform::ErrnoKeeper keeper;
    readSettings(process.settings);
    prepareLibrary(process.settings);
    process.nextThreshold = process.settings.threshold;
    process.pid.store(static_cast<std::uint32_t>(::getpid()));
    watchForks();
    recorder::stacks::begin({&claimBlock, &releaseBlock, &noTime});
    begun.store(2);
}

void onSignal(int) {
    writeDocument(Reason::signal);
}

void writeLast() noexcept {
    {
        const platform::BlockedSignals blocked;
        noticeFork();
    }
    // The child of a vfork has the memory of its parent, whose document this is not.
    if (begun.load() != 2 || process.pid.load() != static_cast<std::uint32_t>(::getpid()) ||
        process.exited.exchange(1) != 0) {
        return;
    }
    if (process.taken != 0 || process.settings.empty) {
        writeDocument(Reason::exit);
    }
}

/// Writes the last document, then ends the process as the signal would have done.
void onEnding(int signal) {
    const platform::ErrnoKeeper keeper;
    writeLast();
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
    ::syscall(SYS_kill, ::getpid(), signal); // delivered when the handler returns
}

void handle(int signal, void (*handler)(int)) noexcept {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    ::sigfillset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
}

// No handler may run between these, because the thread holds the lock.
constinit ::sigset_t beforeFork = {};    ///< guarded by the lock
constinit bool streamsAreLocked = false; ///< guarded by the lock

void lockForFork() {
    ::sigset_t all;
    ::sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool locked = preload::lockStreams();
    process.lock.lock();
    beforeFork = before;
    streamsAreLocked = locked;
    thisThread.forking = true;
}

void unlockInParent() {
    const ::sigset_t before = beforeFork;
    const bool locked = streamsAreLocked;
    thisThread.forking = false;
    process.lock.unlock();
    if (locked) {
        preload::unlockStreams();
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void childOfFork() {
    const platform::ErrnoKeeper keeper;
    thisThread.forking = false;
    afterForkInChild();
    ::pthread_sigmask(SIG_SETMASK, &beforeFork, nullptr);
}

__attribute__((constructor)) void begin() {
    const platform::ErrnoKeeper keeper;
    if (!isSampled() || (thisThread.progress.left == 0 && !beginThread(thisThread))) {
        return;
    }
    startLibrary();
    ::pthread_atfork(&lockForFork, &unlockInParent, &childOfFork);
    if (process.settings.signal != 0) {
        handle(process.settings.signal, &onSignal);
    }
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        struct sigaction now = {};
        if (process.settings.ending && ::sigaction(signal, nullptr, &now) == 0 &&
            now.sa_handler == SIG_DFL) {
            handle(signal, &onEnding);
        }
    }
}

__attribute__((destructor)) void end() {
    writeLast();
}

} // namespace

bool beginThread(Thread& self) noexcept {
    if (self.inside) {
        return false;
    }
    self.inside = true;
    if (begun.load(std::memory_order_acquire) != 2) {
        beginOnce();
    }
    const bool done = begun.load(std::memory_order_acquire) == 2;
    if (done) {
        seedThread(self, threads.fetch_add(1, std::memory_order_relaxed));
    }
    self.inside = false;
    return done;
}

} // namespace heapwright::sampler

using namespace heapwright::sampler;

#pragma GCC visibility push(default)
extern "C" {

void _exit(int status) {
    writeLast();
    for (;;) {
        ::syscall(SYS_exit_group, status);
    }
}

void _Exit(int status) {
    _exit(status);
}

} // extern "C"
#pragma GCC visibility pop
