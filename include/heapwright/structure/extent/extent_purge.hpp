// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of extents that decides which free memory returns to the system, and when.
//
// Units that are dirty for the policy's delay are due. Dirty units above a limit are a surplus,
// which is purged at once. So a program that then makes no more requests keeps little memory,
// although nothing checks the time. The limit is half of the memory in use, and 8 MiB at least. The
// minimum is doubled when clean units are needed after a surplus was purged, unless a later release
// has found that the delay has passed. So a program that allocates and frees much memory repeatedly
// purges too much only a few times.
//
// Invariant: no system call is made under the memory's lock.
// Invariant: units that are being purged count as in use.
// Invariant: one thread purges at a time. A fork waits for it, so no purge is under way when the
// process forks. A thread that frees memory purges a few pieces. If another thread is purging, it
// leaves its pieces to that thread (`owed_`).
// Exception: a signal handler that interrupted a holder of the memory's lock forks without waiting.
// The child then loses the run that another thread was purging.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/structure/extent/extent_memory.hpp>
#include <heapwright/structure/extent/purge_policy.hpp>
#include <heapwright/structure/extent/system_extents.hpp>
#include <heapwright/sync/lock.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// An ExtentMemory with a purge of free units.
template <std::size_t Unit, Lock Mutex, PurgePolicy Rule, ExtentSystem System>
class ExtentPurge {
public:
    using Memory = ExtentMemory<Unit, Mutex, Rule, System>;
    using Chunk = typename Memory::Chunk;
    using Hold = typename Memory::Hold;
    using Run = typename Memory::Run;
    using Space = typename Memory::Space;
    using Bits = typename Space::Bits;

    constexpr ExtentPurge() noexcept = default;
    ExtentPurge(const ExtentPurge&) = delete;
    ExtentPurge& operator=(const ExtentPurge&) = delete;
    ~ExtentPurge() = default;

    /// Allocates a run as ExtentSpace does. If clean units are needed, or none are free, after
    /// a surplus was purged (`purgedSurplus_`), then the limit of the surplus is doubled.
    [[nodiscard]] Run allocate(std::size_t count, std::size_t align, std::size_t phase,
                               Bits* dirt) noexcept {
        std::uint32_t opened = 0;
        Run run;
        {
            const Hold hold(memory.lock);
            const std::size_t before = memory.space.dirtyUnits();
            run = memory.space.allocate(count, align, phase, dirt);
            const std::size_t reused = before - memory.space.dirtyUnits();
            if (purgedSurplus_ && reused < count) [[unlikely]] {
                alwaysKept_ = std::min(2 * alwaysKept_, mostKept);
                purgedSurplus_ = false;
            }
            if (reused == 0 && run.chunk != nullptr) {
                opened = run.chunk->blocksOpenedBy(run.first, count);
            }
        }
        if (opened != 0 && Rule::hugePages()) [[unlikely]] {
            memory.requestHugePages(run, opened);
        }
        return run;
    }

    /// Frees a run. A few pieces are purged if any are due.
    void release(const Run& run) noexcept {
        const std::uint32_t now = System::milliseconds();
        memory.lock.lock();
        const bool first = memory.space.dirtyUnits() == 0;
        memory.space.release(run, now);
        unlockAndPurge(now, first);
    }

    /// Frees the single object of a chunk. The chunk then serves many objects, or it is unmapped if
    /// it is too large for that or the policy purges at once.
    void freeSingle(Chunk& chunk) noexcept {
        const bool stays = chunk.units <= Chunk::most && Rule::returnDelay() != purgeAtOnce;
        const std::uint32_t now = System::milliseconds();
        memory.lock.lock();
        const bool first = memory.space.dirtyUnits() == 0;
        memory.space.removeSingle(chunk);
        if (stays) {
            memory.space.add(chunk, chunk.touchedEnd, now);
        }
        unlockAndPurge(now, stays && first);
        if (!stays) {
            memory.unmap(chunk);
        }
    }

    /// Purges what is dirty for at least `delay` ms, until at most `keep` units are dirty. True if
    /// anything was purged. The only chunk without objects is kept if it has at most `spare` units.
    bool purgeAll(std::uint32_t now, std::uint32_t delay, std::size_t keep,
                  std::size_t spare) noexcept {
        bool any = false;
        {
            const Hold holdPurging(purging_);
            while (dirtyUnits() > keep && purgeOne(now, delay, spare)) {
                any = true;
            }
        }
        purgeOwed();
        return any;
    }

    [[nodiscard]] std::size_t dirtyUnits() noexcept {
        const Hold hold(memory.lock);
        return memory.space.dirtyUnits();
    }

    /// A signal handler may fork while the request that it interrupted holds the memory's lock.
    /// That lock is left to the request, on both sides. The thread that purges may wait for it, so
    /// this fork does not wait for that thread.
    void beforeFork() noexcept {
        if (isHeldHere(memory.lock)) {
            ++innerForks_;
            return;
        }
        const bool purges = isHeldHere(purging_);
        if (!purges) {
            purging_.lock();
        }
        memory.lock.lock();
        purgesInFork_ = purges;
    }
    void afterForkInParent() noexcept {
        if (innerForks_ > 0) {
            --innerForks_;
            return;
        }
        const bool purges = purgesInFork_;
        memory.lock.unlock();
        if (!purges) {
            purging_.unlock();
        }
    }
    void afterForkInChild() noexcept {
        if (innerForks_ > 0) {
            --innerForks_;
            if (!purging_.heldByThisThread()) {
                purging_.reset(); // its holder does not exist here
            }
            return;
        }
        if (!purgesInFork_) {
            purging_.reset();
        }
        memory.lock.reset();
    }

    Memory memory;

private:
    static constexpr std::size_t leastKept = 8 * MiB / Unit;
    static constexpr std::size_t mostKept = 1 * GiB / Unit;

    /// A purge that is due: of units dirty for `delay` ms, until at most `keep` units are dirty.
    struct Surplus {
        bool any = false;
        std::uint32_t delay = 0;
        std::size_t keep = 0;
    };

    /// Pre: the caller holds the memory's lock.
    [[nodiscard]] Surplus surplus(std::uint32_t now, std::uint32_t delay) noexcept {
        const std::size_t dirty = memory.space.dirtyUnits();
        if (dirty == 0 || delay == purgeNever) {
            return {};
        }
        if (dirty > alwaysKept_) [[unlikely]] {
            const std::size_t used = memory.mappedBytes() / Unit - memory.space.freeUnits();
            const std::size_t most = std::max(alwaysKept_, used / 2);
            if (dirty > most) {
                purgedSurplus_ = true;
                lastSurplus_ = now;
                return {true, 0, most};
            }
        }
        purgedSurplus_ = purgedSurplus_ && now - lastSurplus_ < delay;
        return {memory.space.oldestAge(now) >= delay, delay, 0};
    }

    /// Releases the memory's lock, then purges a few pieces if any are due. `first`: no unit was
    /// dirty before.
    void unlockAndPurge(std::uint32_t now, bool first) noexcept {
        const bool any = surplus(now, Rule::returnDelay()).any;
        [[maybe_unused]] const std::size_t waiting = memory.space.dirtyUnits() * Unit;
        memory.lock.unlock();
        if (any) [[unlikely]] {
            purgeSome();
        }
        if constexpr (NotifiedPurgePolicy<Rule>) {
            Rule::memoryWaits(first, waiting); // a background thread purges
        }
    }

    [[gnu::noinline]] void purgeSome() noexcept {
        constexpr unsigned pieces = 4;
        owed_.fetch_add(pieces, std::memory_order_acq_rel);
        purgeOwed();
    }

    /// Whether pieces are owed. Both sides modify `owed_` atomically. Either this thread sees the
    /// debt of a thread that found `purging_` taken, or that thread's later `tryLock` finds it
    /// free.
    [[nodiscard]] bool anyOwed() noexcept {
        return owed_.fetch_or(0, std::memory_order_acq_rel) != 0;
    }

    /// Whether the calling thread holds a lock. In a process with one thread, no fork comes here
    /// while it does.
    [[nodiscard]] static bool isHeldHere(const Mutex& lock) noexcept {
        return !platform::singleThreaded() && lock.heldByThisThread();
    }

    /// Purges the pieces that all threads owe. If another thread is purging, it does so: it checks
    /// the debt again after its unlock, since no further request may follow.
    void purgeOwed() noexcept {
        while (anyOwed() && purging_.tryLock()) {
            const unsigned pieces = owed_.exchange(0, std::memory_order_relaxed);
            const std::uint32_t now = System::milliseconds();
            const Surplus found = surplusNow(now);
            for (unsigned piece = 0; found.any && piece < pieces; ++piece) {
                if (dirtyUnits() <= found.keep || !purgeOne(now, found.delay, Memory::leastUnits)) {
                    break;
                }
            }
            purging_.unlock();
        }
    }

    [[nodiscard]] Surplus surplusNow(std::uint32_t now) noexcept {
        const Hold hold(memory.lock);
        return surplus(now, Rule::returnDelay());
    }

    /// Purges one run or chunk; false if none is due or the system refuses.
    bool purgeOne(std::uint32_t now, std::uint32_t delay, std::size_t spare) noexcept {
        const typename Space::Due due = nextDue(now, delay, spare);
        if (due.chunk == nullptr) {
            return due.run.length != 0 && discardRun(due, now);
        }
        memory.unmap(*due.chunk);
        return true;
    }

    [[nodiscard]] typename Space::Due nextDue(std::uint32_t now, std::uint32_t delay,
                                              std::size_t spare) noexcept {
        const Hold hold(memory.lock);
        return memory.space.nextDue(now, delay, spare);
    }

    /// Discards the pages of a run; false if the system refuses, as for locked memory.
    /// Post: the run is free, and dirty since `now` on failure.
    bool discardRun(const typename Space::Due& due, std::uint32_t now) noexcept {
        const Run& run = due.run;
        // Otherwise the system may fill the block again by itself.
        Memory::forEachBlock(*run.chunk, due.hugeBlocks, [](void* block) {
            System::declineHugePages(block, Chunk::blockUnits * Unit);
        });
        const bool done = System::discard(run.start(), run.bytes());
        const Hold hold(memory.lock);
        if (done) {
            Memory::count(memory.counts.purges, memory.counts.purgedBytes, run.bytes());
            memory.space.releaseClean(run);
        } else {
            memory.space.release(run, now);
        }
        return done;
    }

    Mutex purging_;                      ///< held by the thread that purges
    std::atomic<unsigned> owed_{0};      ///< pieces that threads asked to purge
    std::size_t alwaysKept_ = leastKept; ///< dirty units that are never a surplus
    std::uint32_t lastSurplus_ = 0;      ///< time of the last purge of a surplus, in ms
    std::uint32_t innerForks_ = 0;       ///< of a thread that holds the memory's lock
    bool purgesInFork_ = false;          ///< the thread that forks held `purging_` before
    bool purgedSurplus_ = false;         ///< no release has found that the delay passed
};

} // namespace heapwright
