// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See sampling.hpp.
#include "sampling.hpp"

#include "exponential.hpp"
#include "recorder/stacks/stacks.hpp"

#include <heapwright/core/random.hpp>
#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/platform/random.hpp>
#include <heapwright/platform/thread_exit.hpp>

#include <ctime>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace heapwright::sampler {

constinit thread_local Thread thisThread = {};
constinit Samples samples;
constinit Process process = {};

namespace {

/// A word that the kernel clears in the child of every fork; null where there can be none.
constinit std::atomic<std::uint32_t>* sameProcess = nullptr;

double meanBytes() noexcept {
    return static_cast<double>(process.settings.mean);
}

void drawDistance(Thread& self) noexcept {
    self.random += 0x9e3779b97f4a7c15U;
    self.progress.left = distance(Random::mixed(self.random), meanBytes());
}

void endThread() noexcept {
    const platform::ErrnoKeeper keeper;
    thisThread.over = true;
    recorder::stacks::endThread();
}

/// Ends the sample at a place that was found. Pre: the caller has the lock.
std::uint32_t removeAt(const void* block, std::uint32_t place) noexcept {
    const std::uint32_t record = samples.remove(block, place);
    process.live -= represented(samples.record(record).size, meanBytes());
    return record;
}

/// Whether a document is due. Pre: the caller has the lock.
Reason reasonNow() noexcept {
    const Settings& settings = process.settings;
    if (settings.threshold != 0 && process.live >= process.nextThreshold) {
        process.nextThreshold = (process.live / settings.threshold + 1) * settings.threshold;
        return Reason::threshold;
    }
    if (settings.every != 0) {
        struct timespec time = {};
        ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
        const auto now = static_cast<std::uint64_t>(time.tv_sec);
        if (process.nextTime == 0) {
            process.nextTime = now + settings.every; // the first sample
        } else if (now >= process.nextTime) {
            process.nextTime = now + settings.every;
            return Reason::interval;
        }
    }
    return Reason::none;
}

} // namespace

void seedThread(Thread& self, std::uint64_t number) noexcept {
    self.random = process.settings.seed != 0 ? Random::mixed(process.settings.seed + number)
                                             : platform::randomBits();
    drawDistance(self);
}

void take(Thread& self, void* block, std::size_t size, const void* frame) noexcept {
    const platform::ErrnoKeeper keeper;
    const platform::BlockedSignals blocked;
    noticeFork();
    drawDistance(self);
    ++self.progress.taken;
    const std::uint32_t stack = self.over ? 0 : recorder::stacks::capture(frame);
    if (!self.arranged && !self.over) {
        self.arranged = true;
        if (!platform::AtThreadExit<endThread>::arrange()) {
            endThread();
        }
    }
    Reason due = Reason::none;
    {
        const ProcessLock held;
        // A block that was freed by a call that the sampler did not see.
        if (const std::uint32_t stale =
                samples.mayHold(block) ? samples.find(block) : Samples::none;
            stale != Samples::none) {
            removeAt(block, stale);
        }
        ++process.taken;
        if (samples.add(block, {size, 0, 0, 0, stack, self.label})) {
            process.live += represented(size, meanBytes());
            notePeakBeyond(process.peak / 16);
        } else {
            process.lost.fetch_add(1, std::memory_order_relaxed);
        }
        due = self.forking ? Reason::none : reasonNow();
    }
    if (due != Reason::none) {
        writeDocument(due);
    }
}

void notePeakBeyond(std::uint64_t part) noexcept {
    if (process.live > process.peak + part) {
        process.peak = process.live;
        samples.notePeak();
    }
}

std::uint32_t forget(const void* block) noexcept {
    const std::uint32_t place = samples.find(block);
    if (place == Samples::none) {
        return Samples::none;
    }
    const platform::ErrnoKeeper keeper;
    const platform::BlockedSignals blocked;
    noticeFork();
    const ProcessLock held;
    return removeAt(block, place);
}

void restore(const void* block, std::uint32_t record) noexcept {
    const platform::ErrnoKeeper keeper;
    const platform::BlockedSignals blocked;
    const ProcessLock held;
    if (samples.revive(block, record)) {
        process.live += represented(samples.record(record).size, meanBytes());
    }
}

void watchForks() noexcept {
    void* const page = platform::mapPages(platform::pageSize());
    if (page == nullptr) {
        return;
    }
    auto* const word = ::new (page) std::atomic<std::uint32_t>(1);
    if (::madvise(page, platform::pageSize(), MADV_WIPEONFORK) == 0) {
        sameProcess = word;
    } else {
        platform::unmapPages(page, platform::pageSize());
    }
}

void noticeFork() noexcept {
    if (sameProcess != nullptr && sameProcess->load(std::memory_order_relaxed) == 0) {
        afterForkInChild();
    }
}

void afterForkInChild() noexcept {
    // An earlier handler of the fork may have requested memory, which noticed the fork.
    if (process.pid.load() == static_cast<std::uint32_t>(::getpid())) {
        process.lock.reset();
        return;
    }
    if (sameProcess != nullptr) {
        sameProcess->store(1, std::memory_order_relaxed);
    }
    process.lock.reset();
    process.taken = 0;
    process.nextTime = 0;
    process.lost.store(0);
    process.documents.store(0);
    process.exited.store(0);
    process.pid.store(static_cast<std::uint32_t>(::getpid()));
    samples.forgetMade();
    process.peak = process.live;
    samples.notePeak();
    recorder::stacks::afterForkInChild();
    Thread& self = thisThread;
    if (self.progress.left != 0) {
        self.random ^= Random::mixed(process.pid.load()); // not the parent's sequence
        drawDistance(self);
    }
}

} // namespace heapwright::sampler
