// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// All that threads have of a kind, to be gone over by another thread: a place for each thread
// (sync/thread_slot.hpp), behind a lock. A member enters when it begins and leaves before it ends.
//
// Nobody who enters or leaves touches another's member: its thread may have vanished without a
// word, and the member's memory with it. Such a one is passed over.
// Cost: a lock, a system call and three words written to enter, and a lock and two to leave.
#pragma once

#include <heapwright/platform/thread_exit.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>
#include <heapwright/sync/thread_slot.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace heapwright {

template <class Member>
class Registry {
public:
    constexpr Registry() noexcept = default;
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;
    ~Registry() = default;

    /// The calling thread's; false if it has no slot. Pre: it has none here.
    [[nodiscard]] bool enter(Member& member) noexcept {
        const std::uint32_t slot = threadSlot();
        if (slot == noSlot) {
            return false;
        }
        const Guard<FutexLock> hold(lock_);
        places_[slot] = {&member, platform::systemThread()};
        used_ = std::max(used_, slot + 1);
        return true;
    }

    /// The calling thread's, if it has entered.
    void leave(const Member& member) noexcept {
        const Guard<FutexLock> hold(lock_);
        if (hasEntered(member)) {
            places_[threadSlotIfTaken()] = {};
        }
    }

    /// Runs `visit` on each. It is held still.
    template <class Visit>
    void forEach(Visit visit) {
        for (std::uint32_t slot = 0; slot < used_; ++slot) {
            Place& place = places_[slot];
            if (place.member != nullptr && platform::systemThreadIsOver(place.thread)) {
                place = {};
            }
            if (place.member != nullptr) {
                visit(*place.member);
            }
        }
    }

    void beforeFork() noexcept { lock_.lock(); }
    void afterForkInParent() noexcept { lock_.unlock(); }
    /// The memory of other threads' may be gone; `mine` is the calling thread's.
    void afterForkInChild(Member& mine) noexcept {
        const bool entered = hasEntered(mine);
        std::fill_n(places_.begin(), used_, Place{});
        if (entered) {
            places_[threadSlotIfTaken()] = {&mine, platform::systemThread()};
        }
        lock_.reset();
    }

private:
    struct Place {
        Member* member = nullptr;
        std::uint32_t thread = 0; ///< as the system calls it
    };

    /// Of the calling thread's.
    [[nodiscard]] bool hasEntered(const Member& member) const noexcept {
        const std::uint32_t slot = threadSlotIfTaken();
        return slot < threadSlots && places_[slot].member == &member;
    }

    FutexLock lock_;
    std::uint32_t used_ = 0; ///< places from here on were never used
    std::array<Place, threadSlots> places_{};
};

} // namespace heapwright
