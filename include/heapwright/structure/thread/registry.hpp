// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// All objects of one kind that threads have, so that another thread can visit them. Each thread has
// a place (sync/thread_slot.hpp), behind a lock. A thread enters its member when it begins, and
// removes it before it ends.
//
// A thread that enters or leaves never accesses another thread's member, because that thread, with
// the member's memory, may have ended without leaving. Such a member is skipped.
// Cost: a lock, a system call and three writes to enter; a lock and two writes to leave.
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

    /// Enters the calling thread's member; false if it has no slot.
    /// Pre: it has no member here.
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

    /// Removes the calling thread's member, if it is entered.
    void leave(const Member& member) noexcept {
        const Guard<FutexLock> hold(lock_);
        if (hasEntered(member)) {
            places_[threadSlotIfTaken()] = {};
        }
    }

    /// Runs `visit` on each member.
    /// Pre: the registry is held.
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
    /// Removes the members of other threads, whose memory may be gone. `mine` is the calling
    /// thread's.
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
        std::uint32_t thread = 0; ///< the system's number of the thread
    };

    /// Whether the calling thread has entered this member.
    [[nodiscard]] bool hasEntered(const Member& member) const noexcept {
        const std::uint32_t slot = threadSlotIfTaken();
        return slot < threadSlots && places_[slot].member == &member;
    }

    FutexLock lock_;
    std::uint32_t used_ = 0; ///< places from here on were never used
    std::array<Place, threadSlots> places_{};
};

} // namespace heapwright
