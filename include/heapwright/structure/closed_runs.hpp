// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which pages a heap of runs has closed: the gaps behind runs in use, and whole runs that were
// freed and wait, in the order in which they were.
//
// Gaps are marked by two bits apart from them, without a lock. The queue of those that wait has
// one, for which nobody waits: who does not get it at once does without. (So it does no harm that a
// signal handler forks while its thread holds it.) Pages are closed and opened outside of it, since
// a run belongs to whoever makes or frees it.
//
// Invariant: a gap is marked while it is closed; no more than `Most` are. Where no bits, or no
// mapping, is to be had, nothing is closed. Cost: an atomic addition or two, and the system calls.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/platform/guard_pages.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/life_bits.hpp>
#include <heapwright/sync/lock.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <array>
#include <atomic>
#include <cstddef>

namespace heapwright {

template <Lock Mutex, std::size_t Most, std::size_t Places>
class ClosedRuns {
    struct Run {
        void* start;
        std::size_t bytes;
    };

public:
    /// Closes a gap, if it may.
    void close(void* gap, std::size_t bytes) noexcept {
        const bool room = closed_.fetchAdd(1, std::memory_order_relaxed) < Most;
        if (room && marks_.ensure(gap) && platform::shutPages(gap, bytes)) {
            marks_.enter(gap);
        } else {
            closed_.fetchSub(1, std::memory_order_relaxed);
        }
    }

    /// Opens a gap, if it is closed; false if the system will not: then nobody may have the run.
    [[nodiscard]] bool open(void* gap, std::size_t bytes) noexcept {
        return !unmarked(gap) || platform::openPages(gap, bytes);
    }

    /// Closes a freed run with its gap and lets it wait; false if it is open and does not wait.
    [[nodiscard]] bool letWait(void* run, std::size_t bytes, void* gap) noexcept {
        if (!platform::shutPages(run, bytes)) {
            return !open(gap, addressOf(run) + bytes - addressOf(gap));
        }
        unmarked(gap);
        return appended({run, bytes}) || !platform::openPages(run, bytes);
    }

    /// Lets the runs that have waited longest go, open, to `give` until no more than so many bytes
    /// wait; true if there was any to go.
    template <class Give>
    bool releaseDownTo(std::size_t most, Give give) noexcept {
        bool any = false;
        Run run{};
        while (waiting_.load(std::memory_order_relaxed) > most && taken(most, run)) {
            if (platform::openPages(run.start, run.bytes)) {
                give(run.start);
                any = true;
            }
        }
        return any;
    }

    /// Opens and forgets everything. Nobody else may be inside.
    void clear(std::size_t gapBytes) noexcept {
        releaseDownTo(0, [](void* /*run*/) {});
        marks_.forEachLive(
            [gapBytes](void* gap) { static_cast<void>(platform::openPages(gap, gapBytes)); });
        marks_.clear();
        closed_.store(0, std::memory_order_relaxed);
    }

    /// What waits takes addresses that are counted, but no memory.
    void measure(Footprint& footprint) const noexcept {
        footprint.held += waiting_.load(std::memory_order_relaxed);
        footprint.heldCount += count_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] bool heldByThisThread() const noexcept { return lock_.heldByThisThread(); }
    void beforeFork() noexcept { lock_.lock(); }
    void afterForkInParent() noexcept { lock_.unlock(); }
    void afterForkInChild() noexcept { lock_.reset(); }

private:
    /// Takes the mark off a gap; whether it had one.
    bool unmarked(const void* gap) noexcept {
        const bool was = marks_.at(gap) == Life::live;
        if (was) {
            marks_.leave(gap);
            closed_.fetchSub(1, std::memory_order_relaxed);
        }
        return was;
    }

    /// Behind the others, if there is a place and nobody else is at the queue.
    bool appended(const Run& run) noexcept {
        if (!lock_.tryLock()) {
            return false;
        }
        const std::size_t count = count_.load(std::memory_order_relaxed);
        const bool room = count < Places;
        if (room) {
            runs_[(first_ + count) % Places] = run;
            tell(count + 1, waiting_.load(std::memory_order_relaxed) + run.bytes);
        }
        lock_.unlock();
        return room;
    }

    /// The run that has waited longest, if more than so many bytes wait and nobody else is there.
    bool taken(std::size_t most, Run& run) noexcept {
        if (!lock_.tryLock()) {
            return false;
        }
        const std::size_t waiting = waiting_.load(std::memory_order_relaxed);
        const bool any = waiting > most;
        if (any) {
            run = runs_[first_];
            first_ = (first_ + 1) % Places;
            tell(count_.load(std::memory_order_relaxed) - 1, waiting - run.bytes);
        }
        lock_.unlock();
        return any;
    }

    void tell(std::size_t count, std::size_t waiting) noexcept {
        count_.store(count, std::memory_order_relaxed);
        waiting_.store(waiting, std::memory_order_relaxed);
    }

    LifeBits<platform::smallestPage> marks_;
    SharedWord<std::size_t> closed_;  ///< how many gaps are, or are about to be
    SharedWord<std::size_t> count_;   ///< how many runs wait; written under the lock
    SharedWord<std::size_t> waiting_; ///< their bytes
    std::size_t first_ = 0;           ///< the place of the one that has waited longest
    std::array<Run, Places> runs_{};
    Mutex lock_;
};

} // namespace heapwright
