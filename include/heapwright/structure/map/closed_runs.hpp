// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which pages a heap of runs has closed: the gaps behind runs in use, and whole runs that were
// freed and wait, in the order in which they were.
//
// What is closed is marked by two bits apart from it, without a lock. The queue of those that wait
// has one, for which nobody waits: who does not get it at once does without. (So it does no harm
// that a signal handler forks while its thread holds it.) Pages are closed and opened outside of
// it, since a run belongs to whoever makes or frees it; its place in the queue says how far he is.
//
// Invariant: a gap is marked while it is closed, and a run from before it is closed until it is
// open again; no more than `Most` gaps are. So while the lock is held, no run that has no mark is
// closed, and who looks at the heap may touch it. Where no bits, or no mapping, is to be had,
// nothing is closed; what the system will not open waits on. In the child of a fork, what other
// threads were about to close or to open is lost. Cost: an atomic addition or two, and the system
// calls.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/platform/guard_pages.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/map/life_bits.hpp>
#include <heapwright/sync/lock.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <Lock Mutex, std::size_t Most, std::size_t Places>
class ClosedRuns {
    /// How far a place of the queue is. Who changes the last three has the run, not the lock.
    enum class Stage : std::uint8_t { empty, closed, closing, leaving };
    struct Place {
        void* start = nullptr;
        std::size_t bytes = 0;
        SharedWord<Stage> stage;
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

    /// Opens a gap, if it is closed; false, and it stays as it is, if the system will not: then
    /// nobody may have the run.
    [[nodiscard]] bool open(void* gap, std::size_t bytes) noexcept {
        if (marks_.at(gap) == Life::live) {
            if (!platform::openPages(gap, bytes)) {
                return false;
            }
            unmark(gap);
        }
        return true;
    }

    /// Closes a freed run with its gap and lets it wait; false if it is open and does not wait. It
    /// waits as well, though it is open, where the gap can be opened no more.
    [[nodiscard]] bool letWait(void* run, std::size_t bytes, void* gap) noexcept {
        const std::size_t gapBytes = addressOf(run) + bytes - addressOf(gap);
        Place* const place = appended(run, bytes);
        if (place == nullptr) {
            return !open(gap, gapBytes);
        }
        if (!platform::shutPages(run, bytes) && open(gap, gapBytes)) {
            leave(*place);
            return false;
        }
        unmark(gap); // with the run it is opened
        place->stage.store(Stage::closed, std::memory_order_release);
        return true;
    }

    /// Whether a run waits, or may be closed already or still.
    [[nodiscard]] bool waits(const void* run) const noexcept {
        return marks_.at(run) == Life::live;
    }

    /// Lets the runs that have waited longest go, open, to `give` until no more than so many bytes
    /// wait, or the system will open none; true if there was any to go.
    template <class Give>
    bool releaseDownTo(std::size_t most, Give give) noexcept {
        bool any = false;
        while (waiting_.load(std::memory_order_relaxed) > most) {
            Place* const place = taken(most);
            if (place == nullptr) {
                break;
            }
            void* const run = place->start;
            if (!platform::openPages(run, place->bytes)) {
                place->stage.store(Stage::closed, std::memory_order_release);
                break;
            }
            leave(*place);
            give(run);
            any = true;
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
        waiting_.store(0, std::memory_order_relaxed);
        first_ = count_ = 0;
    }

    /// What waits takes addresses that are counted, but no memory.
    void measure(MemoryUsage& usage) const noexcept {
        usage.held += waiting_.load(std::memory_order_relaxed);
        for (const Place& place : places_) {
            const bool waits = place.stage.load(std::memory_order_relaxed) != Stage::empty;
            usage.heldCount += waits ? 1U : 0U;
        }
    }

    [[nodiscard]] bool heldByThisThread() const noexcept { return lock_.heldByThisThread(); }
    void beforeFork() noexcept { lock_.lock(); }
    void afterForkInParent() noexcept { lock_.unlock(); }
    void afterForkInChild() noexcept { lock_.reset(); }

private:
    /// Takes the mark off a gap, if it has one.
    void unmark(const void* gap) noexcept {
        if (marks_.at(gap) == Life::live) {
            marks_.leave(gap);
            closed_.fetchSub(1, std::memory_order_relaxed);
        }
    }

    /// Behind the others and marked, if there is a place and nobody else is at the queue.
    Place* appended(void* run, std::size_t bytes) noexcept {
        if (!marks_.ensure(run) || !lock_.tryLock()) {
            return nullptr;
        }
        dropEmpty();
        Place* const place = count_ < Places ? &placeAt(count_++) : nullptr;
        if (place != nullptr) {
            place->start = run;
            place->bytes = bytes;
            place->stage.store(Stage::closing, std::memory_order_relaxed);
            marks_.enter(run);
            waiting_.fetchAdd(bytes, std::memory_order_relaxed);
        }
        lock_.unlock();
        return place;
    }

    /// That of the run that has waited longest, if more than so many bytes wait and nobody else is
    /// at the queue. It is about to leave.
    Place* taken(std::size_t most) noexcept {
        if (!lock_.tryLock()) {
            return nullptr;
        }
        dropEmpty();
        Place* oldest = nullptr;
        for (std::size_t each = 0; each < count_ && oldest == nullptr; ++each) {
            Place& place = placeAt(each);
            oldest =
                place.stage.load(std::memory_order_acquire) == Stage::closed ? &place : nullptr;
        }
        if (waiting_.load(std::memory_order_relaxed) <= most) {
            oldest = nullptr;
        }
        if (oldest != nullptr) {
            oldest->stage.store(Stage::leaving, std::memory_order_relaxed);
        }
        lock_.unlock();
        return oldest;
    }

    /// Pre: the run is open, and nobody's.
    void leave(Place& place) noexcept {
        marks_.leave(place.start);
        waiting_.fetchSub(place.bytes, std::memory_order_relaxed);
        place.stage.store(Stage::empty, std::memory_order_release);
    }

    /// Takes the places away that are empty at the head. Pre: the lock is held.
    void dropEmpty() noexcept {
        while (count_ != 0 && placeAt(0).stage.load(std::memory_order_acquire) == Stage::empty) {
            first_ = (first_ + 1) % Places;
            --count_;
        }
    }

    [[nodiscard]] Place& placeAt(std::size_t number) noexcept {
        return places_[(first_ + number) % Places];
    }

    LifeBits<platform::smallestPage> marks_;
    SharedWord<std::size_t> closed_;  ///< how many gaps are, or are about to be
    SharedWord<std::size_t> waiting_; ///< bytes
    std::size_t first_ = 0; ///< the place of the one that has waited longest; under the lock
    std::size_t count_ = 0; ///< places from there on; some may be empty
    std::array<Place, Places> places_{};
    Mutex lock_;
};

} // namespace heapwright
