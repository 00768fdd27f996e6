// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples the bytes that the program requests. Each thread counts down to its next sampled byte.
// The block that contains it is a sample: its stack, label and size are noted until it is freed.
// Two libraries share this: the preloaded one, whose routines are here, and granary with samples
// (native/sampled/).
//
// Invariant: a thread's `left` is 0 before its first call, and above 0 afterwards. A nested call,
// such as malloc by operator new, changes the progress, so that the outer call does not count
// again. errno is the allocator's. The lock is taken with all signals blocked. Cost: 5 instructions
// for a malloc and 5 for a free that are not sampled. A sample costs a walk of the stack and some
// system calls.
#pragma once

#include "samples.hpp"
#include "settings.hpp"

#include <heapwright/platform/blocked_signals.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::sampler {

/// How far a thread is. Each call that counts a block changes it.
struct Progress {
    std::uint64_t left;  ///< bytes to the next sampled one; 0: not drawn yet
    std::uint64_t taken; ///< samples

    friend bool operator==(const Progress&, const Progress&) = default;
};

struct Thread {
    Progress progress;
    Progress before;      ///< when operator new began
    std::uint64_t random; ///< state of the random numbers
    std::uint32_t label;
    bool inside;   ///< begins the process
    bool arranged; ///< `endThread` will run, or cannot
    bool over;     ///< it has run
    bool forking;  ///< it holds the lock of the process from before a fork until after it
};

/// What the process has of its own. Guarded by `lock`, except as stated.
struct Process {
    Settings settings; ///< constant after the beginning
    FutexLock lock;
    std::uint64_t taken;                  ///< samples of this process; read without the lock
    std::uint64_t live;                   ///< estimate of live bytes
    std::uint64_t peak;                   ///< this estimate when the peak was last noted
    std::uint64_t nextThreshold;          ///< a document is due at this estimate
    std::uint64_t nextTime;               ///< a document is due at this second
    std::atomic<std::uint64_t> lost;      ///< samples without room
    std::atomic<std::uint32_t> documents; ///< begun
    std::atomic<std::uint32_t> exited;    ///< the document of the exit is begun
    std::atomic<std::uint32_t> pid;
};

enum class Reason : std::uint8_t { none, exit, signal, interval, threshold };

extern constinit thread_local Thread thisThread __attribute__((tls_model("initial-exec")));
extern constinit Samples samples;
extern constinit Process process;

/// Holds the lock of the process. A thread that forks has it already: the program's own handlers of
/// the fork may request memory.
class ProcessLock {
public:
    ProcessLock() noexcept : taken_(!thisThread.forking) {
        if (taken_) {
            process.lock.lock();
        }
    }
    ProcessLock(const ProcessLock&) = delete;
    ProcessLock& operator=(const ProcessLock&) = delete;
    ~ProcessLock() {
        if (taken_) {
            process.lock.unlock();
        }
    }

private:
    bool taken_;
};

// What differs between the libraries. Each defines these three.
/// Whether this process is sampled. Any thread may ask, at any time.
bool isSampled() noexcept;
/// Called once, when the settings were read and before the first sample.
void prepareLibrary(Settings& settings) noexcept;
/// Called once, by the library's constructor.
void startLibrary() noexcept;

/// Begins the process, and draws the thread's first distance. False: it is being done.
[[gnu::cold, gnu::noinline]] bool beginThread(Thread& self) noexcept;

/// Gives the thread of this number its random numbers, and its first distance.
void seedThread(Thread& self, std::uint64_t number) noexcept;

/// The block contains a sampled byte. `frame` is that of the routine that the program called.
[[gnu::cold, gnu::noinline]] void take(Thread& self, void* block, std::size_t size,
                                       const void* frame) noexcept;

/// Counts a block that the next allocator has returned.
[[gnu::always_inline]] inline void count(Thread& self, void* block, std::size_t size,
                                         const void* frame) noexcept {
    if (block == nullptr) {
        return;
    }
    if (self.progress.left > size) [[likely]] {
        self.progress.left -= size;
    } else {
        take(self, block, size, frame);
    }
}

/// Notes the peak if the estimate of live bytes exceeds the noted one by a part of it. Pre: the
/// caller has the lock.
void notePeakBeyond(std::uint64_t part) noexcept;

/// Ends the sample of a block that is about to be freed; its record, or `none`.
[[gnu::cold, gnu::noinline]] std::uint32_t forget(const void* block) noexcept;

/// The block was not freed after all.
[[gnu::cold, gnu::noinline]] void restore(const void* block, std::uint32_t record) noexcept;

/// In the child of a fork, once.
void afterForkInChild() noexcept;

/// Notices a fork that no handler has announced. Pre: signals are blocked.
void noticeFork() noexcept;

/// Prepares `noticeFork`. Pre: called once.
void watchForks() noexcept;

/// Writes a document. Any thread and any signal handler may call it. document.cpp.
void writeDocument(Reason reason) noexcept;

/// The text of a label, by its number below `labelCount()`. labels.cpp.
const char* labelText(std::uint32_t label) noexcept;
std::uint32_t labelCount() noexcept;

} // namespace heapwright::sampler
