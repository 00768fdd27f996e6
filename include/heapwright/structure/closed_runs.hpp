// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which runs of pages have closed pages: those in use whose gap is closed, and those that were
// freed and wait, closed as a whole, in the order in which they were. What is known of them stands
// apart, under a lock; pages are closed and opened without it, since a run belongs to whoever makes
// or frees it.
//
// Invariant: a run is entered while pages of it are closed. No more than `Most` are, give or take
// one for each thread that is about to close another. Where an entry or the system call is not to
// be had, nothing is closed.
// Cost: a search of the map.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/platform/guard_pages.hpp>
#include <heapwright/structure/address_map.hpp>
#include <heapwright/sync/lock.hpp>

#include <cstddef>

namespace heapwright {

template <Lock Mutex, std::size_t Most>
class ClosedRuns {
    struct Closed;
    using Map = AddressMap<Closed>;
    using Entry = typename Map::Entry;
    using Hold = Guard<Mutex>;

    struct Closed {
        Entry* next = nullptr; ///< the run that was freed next, while it waits
        bool waits = false;
    };

public:
    /// Closes the gap of a run of `bytes` bytes, if it may.
    void close(void* run, std::size_t bytes, void* gap, std::size_t gapBytes) noexcept {
        Entry* const entry = reserved();
        if (entry == nullptr) {
            return;
        }
        const bool shut = platform::shutPages(gap, gapBytes);
        const Hold hold(lock_);
        if (shut) {
            enter(entry, run, bytes);
        } else {
            map_.release(entry);
        }
    }

    /// Opens the gap of a run, if it is closed; false if the system will not: then nobody may have
    /// the run.
    [[nodiscard]] bool open(void* run, void* gap, std::size_t gapBytes) noexcept {
        {
            const Hold hold(lock_);
            Entry* const entry = map_.find(addressOf(run));
            if (entry == nullptr) {
                return true;
            }
            map_.remove(entry);
            map_.release(entry);
        }
        return platform::openPages(gap, gapBytes);
    }

    /// Closes a freed run of `bytes` bytes with its gap and lets it wait; false if it cannot.
    [[nodiscard]] bool letWait(void* run, std::size_t bytes) noexcept {
        Entry* const entry = enteredOrNew(run, bytes);
        if (entry == nullptr) {
            return false;
        }
        const bool shut = platform::shutPages(run, bytes);
        const Hold hold(lock_);
        if (!shut) {
            return false; // it is entered, though its gap may be open; opening it does no harm
        }
        entry->value.waits = true;
        (last_ != nullptr ? last_->value.next : first_) = entry;
        last_ = entry;
        waiting_ += bytes;
        ++waitingCount_;
        return true;
    }

    /// Lets the runs that have waited longest go, open, to `give` until no more than so many bytes
    /// wait; true if there was any.
    template <class Give>
    bool releaseDownTo(std::size_t most, Give give) noexcept {
        bool any = false;
        while (Entry* const entry = oldest(most)) {
            void* const run = pointerTo(entry->start);
            if (platform::openPages(run, entry->size)) {
                give(run);
                any = true;
            }
            const Hold hold(lock_);
            map_.release(entry);
        }
        return any;
    }

    /// Opens and forgets everything. Nobody else may be inside.
    template <class GapOf>
    void clear(GapOf gapOf, std::size_t gapBytes) noexcept {
        for (const Entry* entry = map_.atOrAfter(0); entry != nullptr;
             entry = map_.atOrAfter(entry->start + 1)) {
            void* const run = pointerTo(entry->start);
            static_cast<void>(entry->value.waits ? platform::openPages(run, entry->size)
                                                 : platform::openPages(gapOf(run), gapBytes));
        }
        map_.clear();
        first_ = last_ = nullptr;
        waiting_ = waitingCount_ = 0;
    }

    /// What waits takes addresses that are counted, but no memory.
    void measure(Footprint& footprint) noexcept {
        const Hold hold(lock_);
        footprint.held += waiting_;
        footprint.heldCount += waitingCount_;
    }

    [[nodiscard]] bool heldByThisThread() const noexcept { return lock_.heldByThisThread(); }
    void beforeFork() noexcept { lock_.lock(); }
    void afterForkInParent() noexcept { lock_.unlock(); }
    void afterForkInChild() noexcept { lock_.reset(); }

private:
    /// An entry to come; null if there are too many or there is no memory for it.
    [[nodiscard]] Entry* reserved() noexcept {
        const Hold hold(lock_);
        return map_.count() < Most ? map_.reserve() : nullptr;
    }

    void enter(Entry* entry, const void* run, std::size_t bytes) noexcept {
        entry->value = {};
        map_.insert(entry, addressOf(run), bytes);
    }

    [[nodiscard]] Entry* enteredOrNew(const void* run, std::size_t bytes) noexcept {
        const Hold hold(lock_);
        Entry* entry = map_.find(addressOf(run));
        if (entry == nullptr && map_.count() < Most) {
            entry = map_.reserve();
            if (entry != nullptr) {
                enter(entry, run, bytes);
            }
        }
        return entry;
    }

    /// The run that has waited longest, out of the map, if more than so many bytes wait.
    [[nodiscard]] Entry* oldest(std::size_t most) noexcept {
        const Hold hold(lock_);
        if (waiting_ <= most) {
            return nullptr;
        }
        Entry* const entry = first_;
        first_ = entry->value.next;
        last_ = first_ == nullptr ? nullptr : last_;
        waiting_ -= entry->size;
        --waitingCount_;
        map_.remove(entry);
        return entry;
    }

    Mutex lock_;
    Map map_;
    Entry* first_ = nullptr; ///< of those that wait, the one that was freed first
    Entry* last_ = nullptr;
    std::size_t waiting_ = 0; ///< their bytes
    std::size_t waitingCount_ = 0;
};

} // namespace heapwright
