// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// When free units of extents go back to the system (layers/source/extent_heap.hpp), and how.
//
// What has been dirty for as long as the rule's delay is due. What is dirty beyond a measure is a
// surplus and goes back at once, so that a program that then asks for nothing any more is left with
// little, although nobody looks at the time. The measure is half of what is in use, and 8 MiB at
// least; that is doubled whenever clean units are needed while the return of a surplus is no longer
// ago than the delay, for then it was none. So who uses and frees much again and again gives back
// too much a few times, and no more.
//
// What is being given back counts as in use meanwhile, and no lock is held that anybody needs for
// memory. One thread at a time does it, behind a lock of its own, which a fork waits for; so it is
// not under way when the process forks. Who frees gives back a few pieces, and a few for each who
// came by meanwhile and left them to him.
#pragma once

#include <heapwright/structure/extent/extent_memory.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Unit, Lock Mutex, PurgePolicy Rule, ExtentSystem System>
class ExtentPurge : protected ExtentMemory<Unit, Mutex, Rule, System> {
    using Memory = ExtentMemory<Unit, Mutex, Rule, System>;

protected:
    using Memory::lock_;
    using Memory::space_;
    using typename Memory::Chunk;
    using typename Memory::Hold;
    using typename Memory::Run;
    using typename Memory::Space;
    using Bits = typename Space::Bits;

    constexpr ExtentPurge() noexcept = default;
    ~ExtentPurge() = default;

    /// As the space takes units. Those that are not dirty, or are none yet, are a new need.
    [[nodiscard]] Run take(std::size_t count, std::size_t align, std::size_t phase,
                           Bits* dirt) noexcept {
        const Hold hold(lock_);
        const std::size_t before = space_.dirtyUnits();
        const Run run = space_.take(count, align, phase, dirt);
        if (gaveSurplus_ && before - space_.dirtyUnits() < count) [[unlikely]] {
            kept_ = std::min(2 * kept_, mostKept);
            gaveSurplus_ = false;
        }
        return run;
    }

    /// Units in use are dirty since now; a few are given back if that is due.
    void give(const Run& run) noexcept {
        const std::uint32_t now = System::milliseconds();
        lock_.lock();
        const bool first = space_.dirtyUnits() == 0;
        space_.give(run, now);
        letGo(now, first);
    }

    /// A chunk that served a single object goes back, or is for many from now on if it may stay for
    /// a while.
    void freeSingle(Chunk& chunk) noexcept {
        const bool stays = chunk.units <= Chunk::most && Rule::returnDelay() != purgeAtOnce;
        const std::uint32_t now = System::milliseconds();
        lock_.lock();
        const bool first = space_.dirtyUnits() == 0;
        space_.removeSingle(chunk);
        if (stays) {
            space_.add(chunk, chunk.stained, now);
        }
        letGo(now, stays && first);
        if (!stays) {
            Memory::unmap(chunk);
        }
    }

    /// Gives back all that is due until no more than so many units are dirty; whether there was
    /// any. A chunk without objects stays if it has no more than `spare` units.
    bool giveBackAll(std::uint32_t now, std::uint32_t delay, std::size_t keep,
                     std::size_t spare) noexcept {
        bool any = false;
        {
            const Hold holdReturning(returning_);
            while (dirtyUnits() > keep && giveBackOne(now, delay, spare)) {
                any = true;
            }
        }
        settle();
        return any;
    }

    [[nodiscard]] std::size_t dirtyUnits() noexcept {
        const Hold hold(lock_);
        return space_.dirtyUnits();
    }

    Mutex returning_; ///< who has it gives back

private:
    static constexpr std::size_t leastKept = 8 * MiB / Unit;
    static constexpr std::size_t mostKept = 1 * GiB / Unit;

    /// What is to be given back: what is dirty for so long, until no more than so much is dirty.
    struct Surplus {
        bool any = false;
        std::uint32_t delay = 0;
        std::size_t keep = 0;
    };

    /// Under the lock.
    [[nodiscard]] Surplus surplus(std::uint32_t now, std::uint32_t delay) noexcept {
        const std::size_t dirty = space_.dirtyUnits();
        if (dirty == 0 || delay == purgeNever) {
            return {};
        }
        if (dirty > kept_) [[unlikely]] {
            const std::size_t used = Memory::mappedBytes() / Unit - space_.freeUnits();
            const std::size_t most = std::max(kept_, used / 2);
            if (dirty > most) {
                gaveSurplus_ = true;
                lastSurplus_ = now;
                return {true, 0, most};
            }
        }
        gaveSurplus_ = gaveSurplus_ && now - lastSurplus_ < delay;
        return {space_.oldestAge(now) >= delay, delay, 0};
    }

    /// Lets the lock go, and sees to it that a few pieces are given back if there are any. `first`
    /// says that there were none before.
    void letGo(std::uint32_t now, bool first) noexcept {
        const bool any = surplus(now, Rule::returnDelay()).any;
        lock_.unlock();
        if (any) [[unlikely]] {
            giveBackSome();
        }
        if constexpr (NotifiedPurgePolicy<Rule>) {
            if (first) {
                Rule::memoryWaits(); // who gives back in the background wants to know
            }
        }
    }

    [[gnu::noinline]] void giveBackSome() noexcept {
        constexpr unsigned pieces = 4;
        owed_.fetch_add(pieces, std::memory_order_acq_rel);
        settle();
    }

    /// Either this sees what somebody left who found the lock taken, or he comes after it, and then
    /// finds the lock as free as it was left: both write the word.
    [[nodiscard]] bool owes() noexcept { return owed_.fetch_or(0, std::memory_order_acq_rel) != 0; }

    /// The pieces that everybody was asked for: who finds somebody else at it leaves his to him,
    /// for it may be that nobody comes by any more.
    void settle() noexcept {
        while (owes() && returning_.tryLock()) {
            const unsigned pieces = owed_.exchange(0, std::memory_order_relaxed);
            const std::uint32_t now = System::milliseconds();
            const Surplus found = surplusNow(now);
            for (unsigned piece = 0; found.any && piece < pieces; ++piece) {
                if (dirtyUnits() <= found.keep ||
                    !giveBackOne(now, found.delay, Memory::leastUnits)) {
                    break;
                }
            }
            returning_.unlock();
        }
    }

    [[nodiscard]] Surplus surplusNow(std::uint32_t now) noexcept {
        const Hold hold(lock_);
        return surplus(now, Rule::returnDelay());
    }

    /// False if there was nothing, or the system would not have it.
    bool giveBackOne(std::uint32_t now, std::uint32_t delay, std::size_t spare) noexcept {
        const typename Space::Due due = nextDue(now, delay, spare);
        if (due.chunk == nullptr) {
            return due.run.length != 0 && clean(due.run, now);
        }
        Memory::unmap(*due.chunk);
        return true;
    }

    [[nodiscard]] typename Space::Due nextDue(std::uint32_t now, std::uint32_t delay,
                                              std::size_t spare) noexcept {
        const Hold hold(lock_);
        return space_.nextDue(now, delay, spare);
    }

    /// False, and the units are dirty since now, if they cannot be given back: they may be locked.
    bool clean(const Run& run, std::uint32_t now) noexcept {
        const bool done = System::discard(run.start(), run.bytes());
        const Hold hold(lock_);
        if (done) {
            Memory::count(Memory::counts_.purges, Memory::counts_.purgedBytes, run.bytes());
            space_.giveClean(run);
        } else {
            space_.give(run, now);
        }
        return done;
    }

    std::atomic<unsigned> owed_{0}; ///< pieces that somebody was asked to give back
    std::size_t kept_ = leastKept;  ///< units that are no surplus, however little is in use
    std::uint32_t lastSurplus_ = 0; ///< when one was given back,
    bool gaveSurplus_ = false;      ///< if that was not long ago
};

} // namespace heapwright
