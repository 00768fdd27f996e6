// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The pages that a heap of runs has closed. They are the gaps behind runs in use, and whole freed
// runs that wait, in the order of their frees.
//
// Closed pages are marked by two bits apart from them, without a lock. The queue of waiting runs
// has a lock, which no thread waits for: a thread that finds it taken skips the queue. (A signal
// handler may therefore fork while its thread holds it.) Pages are closed and opened without the
// lock, because the thread that allocates or frees a run owns it. The run's place in the queue
// records its stage.
//
// Invariant: a gap is marked while it is closed. A run is marked from before it is closed until it
// is open again. At most `Most` gaps are closed. While the lock is held, no unmarked run is closed,
// so a reader of the heap may access it. Without memory for bits, or without a free mapping,
// nothing is closed. A run that the system fails to open keeps waiting. In the child of a fork, the
// runs that other threads were closing or opening are lost.
// Cost: one or two atomic additions, and the system calls.
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
    /// The stage of a place in the queue. In the last two stages, the thread that changes it owns
    /// the run and needs no lock.
    enum class Stage : std::uint8_t { empty, closed, closing, leaving };
    struct Place {
        void* start = nullptr;
        std::size_t bytes = 0;
        SharedWord<Stage> stage;
    };

public:
    /// Closes a gap, if the limit allows it.
    void close(void* gap, std::size_t bytes) noexcept {
        const bool room = closed_.fetchAdd(1, std::memory_order_relaxed) < Most;
        if (room && marks_.ensure(gap) && platform::shutPages(gap, bytes)) {
            marks_.enter(gap);
        } else {
            closed_.fetchSub(1, std::memory_order_relaxed);
        }
    }

    /// Opens a gap, if it is closed. Returns false, and changes nothing, on failure; the run cannot
    /// be used then.
    [[nodiscard]] bool open(void* gap, std::size_t bytes) noexcept {
        if (marks_.at(gap) == Life::live) {
            if (!platform::openPages(gap, bytes)) {
                return false;
            }
            unmark(gap);
        }
        return true;
    }

    /// Closes a freed run with its gap and puts it into the queue. Returns false if it is open and
    /// does not wait. If the gap cannot be opened, the run waits even though it is open.
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
        unmark(gap); // it is opened with the run
        place->stage.store(Stage::closed, std::memory_order_release);
        return true;
    }

    /// Whether a run waits, or may be closed.
    [[nodiscard]] bool waits(const void* run) const noexcept {
        return marks_.at(run) == Life::live;
    }

    /// Opens the oldest runs and passes them to `give`, until at most `most` bytes wait or the
    /// system fails to open one. Returns true if it released any.
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

    /// Opens and removes everything.
    /// Pre: no other thread uses it.
    void clear(std::size_t gapBytes) noexcept {
        releaseDownTo(0, [](void* /*run*/) {});
        marks_.forEachLive(
            [gapBytes](void* gap) { static_cast<void>(platform::openPages(gap, gapBytes)); });
        marks_.clear();
        closed_.store(0, std::memory_order_relaxed);
        waiting_.store(0, std::memory_order_relaxed);
        first_ = count_ = 0;
    }

    /// A waiting run has addresses, which are counted, but no memory.
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
    /// Removes the mark of a gap, if it has one.
    void unmark(const void* gap) noexcept {
        if (marks_.at(gap) == Life::live) {
            marks_.leave(gap);
            closed_.fetchSub(1, std::memory_order_relaxed);
        }
    }

    /// Appends a run to the queue and marks it, if there is a place and the lock is free.
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

    /// The place of the oldest run, if more than `most` bytes wait and the lock is free. Its stage
    /// becomes `leaving`.
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

    /// Pre: the run is open and not in use.
    void leave(Place& place) noexcept {
        marks_.leave(place.start);
        waiting_.fetchSub(place.bytes, std::memory_order_relaxed);
        place.stage.store(Stage::empty, std::memory_order_release);
    }

    /// Removes empty places at the head.
    /// Pre: the lock is held.
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
    SharedWord<std::size_t> closed_;  ///< number of gaps that are closed or being closed
    SharedWord<std::size_t> waiting_; ///< bytes
    std::size_t first_ = 0;           ///< place of the oldest run; protected by the lock
    std::size_t count_ = 0;           ///< number of places from there; some may be empty
    std::array<Place, Places> places_{};
    Mutex lock_;
};

} // namespace heapwright
