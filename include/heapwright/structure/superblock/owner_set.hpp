// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The owners of memory that goes from hand to hand: the heaps of threads, made when they are first
// needed, and a global one. Each has a lock; they are taken in the order of the heaps' numbers, and
// the global one last, which protects the making of heaps as well.
//
// Over a fork all locks are held. A thread that holds one already (in a signal handler that
// interrupted a request) passes that one over and leaves it as it is on both sides. That works for
// one such handler at a time, and unless the interrupted request holds the global lock, for which
// others wait inside their heaps.
// `Owner` has a `lock` and `heldSince`, the fork that holds it, counted from 1, or 0. The first
// heap is always there. Invariant: no heap's lock is taken before the heap is in the set.
#pragma once

#include <heapwright/platform/thread.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <class Owner, std::size_t Count>
class OwnerSet {
public:
    constexpr OwnerSet() noexcept = default;
    OwnerSet(const OwnerSet&) = delete;
    OwnerSet& operator=(const OwnerSet&) = delete;
    ~OwnerSet() = default;

    /// The heap with a number; null if it has not been made.
    [[nodiscard]] Owner* find(std::size_t index) const noexcept {
        return heaps_[index].load(std::memory_order_acquire);
    }
    [[nodiscard]] Owner& first() noexcept { return first_; }
    [[nodiscard]] Owner& global() noexcept { return global_; }

    /// Under the global lock: a heap gets its number, which no heap has.
    void enter(std::size_t index, Owner& heap) noexcept {
        heaps_[index].store(&heap, std::memory_order_release);
        if (index >= end_.load(std::memory_order_relaxed)) {
            end_.store(static_cast<std::uint32_t>(index + 1), std::memory_order_release);
        }
        entered_.store(entered_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    /// All heaps but the first are gone. Nobody else is inside.
    void forget() noexcept {
        for (std::uint32_t index = 0; index < end_.load(std::memory_order_relaxed); ++index) {
            heaps_[index].store(nullptr, std::memory_order_relaxed);
        }
        end_.store(0, std::memory_order_relaxed);
    }

    /// Runs `visit` on each heap but the global one.
    template <class Visit>
    void forEachHeap(Visit visit) noexcept {
        visit(first_);
        for (std::uint32_t index = 1; index < end_.load(std::memory_order_acquire); ++index) {
            if (Owner* const heap = find(index)) {
                visit(*heap);
            }
        }
    }

    void beforeFork() noexcept {
        const bool first = holdOne(first_);
        ++forks_; // whose turn it is to write this is who holds the first heap
        first_.heldSince = first ? forks_ : first_.heldSince;
        for (;;) {
            const std::uint32_t seen = entered_.load(std::memory_order_acquire);
            forEachHeap([this](Owner& owner) { holdForFork(owner); });
            holdForFork(global_); // from here on no heap is made
            if (seen == entered_.load(std::memory_order_relaxed) || global_.heldSince != forks_) {
                return;
            }
            global_.heldSince = 0;
            global_.lock.unlock();
        }
    }
    void afterForkInParent() noexcept {
        letGo([](auto& lock) { lock.unlock(); });
    }
    void afterForkInChild() noexcept {
        letGo([](auto& lock) { lock.reset(); });
    }

private:
    /// Takes a lock unless this thread has it already; whether it had to.
    [[nodiscard]] static bool holdOne(Owner& owner) noexcept {
        if (!platform::singleThreaded() && owner.lock.heldByThisThread()) {
            return false;
        }
        owner.lock.lock();
        return true;
    }
    void holdForFork(Owner& owner) noexcept {
        if (owner.heldSince != forks_ && holdOne(owner)) {
            owner.heldSince = forks_;
        }
    }

    /// Lets go what the latest fork holds, the first heap last.
    template <class Free>
    void letGo(Free free) noexcept {
        const std::uint32_t fork = forks_;
        const auto letGoOne = [fork, free](Owner& owner) {
            if (owner.heldSince == fork) {
                owner.heldSince = 0;
                free(owner.lock);
            }
        };
        letGoOne(global_);
        forEachHeap([this, letGoOne](Owner& owner) {
            if (&owner != &first_) {
                letGoOne(owner);
            }
        });
        --forks_;
        letGoOne(first_);
    }

    std::array<SharedWord<Owner*>, Count> heaps_; ///< null: not needed yet
    SharedWord<std::uint32_t> end_{0};            ///< no heap is there from here on
    SharedWord<std::uint32_t> entered_{0};        ///< how many heaps were ever made
    std::uint32_t forks_ = 0; ///< how many forks of one thread are under way, one inside the other
    Owner first_;
    Owner global_;
};

} // namespace heapwright
