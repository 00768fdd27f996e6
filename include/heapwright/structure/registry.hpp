// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// All that threads have of a kind, to be gone over by another thread: a list through its members,
// behind a lock. A member enters when it begins and leaves before it ends.
//
// A member has a `RegistryLinks` of the name `inRegistry`. In a child after a fork only the forking
// thread's is left, since the memory of the others may be gone.
// Cost: a lock and four words written to enter, and to leave.
#pragma once

#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>

namespace heapwright {

template <class Member>
struct RegistryLinks {
    Member* next = nullptr;
    Member* previous = nullptr;
    bool entered = false;
};

template <class Member>
class Registry {
public:
    constexpr Registry() noexcept = default;
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;
    ~Registry() = default;

    void enter(Member& member) noexcept {
        const Guard<FutexLock> hold(lock_);
        link(member);
    }

    /// If it has entered.
    void leave(Member& member) noexcept {
        const Guard<FutexLock> hold(lock_);
        RegistryLinks<Member>& own = member.inRegistry;
        if (!own.entered) {
            return;
        }
        (own.previous == nullptr ? first_ : own.previous->inRegistry.next) = own.next;
        if (own.next != nullptr) {
            own.next->inRegistry.previous = own.previous;
        }
        own = {};
    }

    /// Runs `visit` on each. It is held still.
    template <class Visit>
    void forEach(Visit visit) {
        for (Member* member = first_; member != nullptr; member = member->inRegistry.next) {
            visit(*member);
        }
    }

    void beforeFork() noexcept { lock_.lock(); }
    void afterForkInParent() noexcept { lock_.unlock(); }
    /// `mine` is the calling thread's.
    void afterForkInChild(Member& mine) noexcept {
        const bool entered = mine.inRegistry.entered;
        first_ = nullptr;
        mine.inRegistry = {};
        if (entered) {
            link(mine);
        }
        lock_.reset();
    }

private:
    void link(Member& member) noexcept {
        member.inRegistry = {first_, nullptr, true};
        if (first_ != nullptr) {
            first_->inRegistry.previous = &member;
        }
        first_ = &member;
    }

    FutexLock lock_;
    Member* first_ = nullptr;
};

} // namespace heapwright
