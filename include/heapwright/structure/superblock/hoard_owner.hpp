// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The owners of Hoard's superblocks: the heaps of threads and one global heap. A `HoardOwner` has a
// lock and superblocks. An `OwnerSet` finds the owners and holds their locks over a fork.
//
// A thread's heap is created at its first request. Locks are taken in the order of the heaps'
// numbers, the global lock last. The global lock also protects the creation of heaps.
//
// Over a fork the forking thread holds all locks. In a signal handler it may hold one already: then
// it skips that lock and leaves it as it is on both sides. That works for one interrupted request
// at a time. It does not work if the interrupted request holds the global lock, for which other
// threads wait inside their heaps.
//
// Invariant: a heap is in the set before any thread takes its lock.
#pragma once

#include <heapwright/platform/thread.hpp>
#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/structure/superblock/remote_frees.hpp>
#include <heapwright/sync/counted_lock.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heapwright {

/// An owner tag whose initial value, the tag of shared heap 0, is all zero bytes. So a static heap
/// occupies no space in the library's file.
class ZeroBasedTag {
public:
    ZeroBasedTag& operator=(OwnerTag tag) noexcept {
        difference_.store(tag ^ keyOfSharedHeap(0), std::memory_order_relaxed);
        return *this;
    }
    operator OwnerTag() const noexcept {
        return difference_.load(std::memory_order_relaxed) ^ keyOfSharedHeap(0);
    }

private:
    OwnerTagWord difference_;
};

/// A rule that has the locks of its heaps counted.
template <class R>
concept CountedEmptiness = requires { requires R::counted; };

/// An owner of superblocks. It is allocated in a block of the same heap as superblocks. The first
/// two words tell the block from a superblock: no owner tag and no owner. `Rule::counted` selects
/// a lock that counts. `RemoteBytes` limits what other threads have freed and the owner has not
/// collected.
template <class Superblocks, class Rule, std::size_t RemoteBytes>
struct alignas(64) HoardOwner {
    static constexpr bool counted = CountedEmptiness<Rule>;
    using Mutex = std::conditional_t<counted, CountedLock<FutexLock>, FutexLock>;

    OwnerTagWord ownerTag;        ///< `noOwnerTag`, at the place of a superblock's tag
    void* noOwner = nullptr;      ///< null, at the place of a superblock's owner
    Mutex lock;                   ///< protects the members below
    std::uint32_t heldByFork = 0; ///< number of the fork that holds the lock, from 1; 0: none
    ZeroBasedTag served; ///< tag of the thread that its superblocks serve; any thread reads it
    RemoteFrees<RemoteBytes> remote; ///< open while the heap has a thread with a cache
    Superblocks superblocks;
};

/// Up to `Count` heaps of threads by number, and the global heap. `Owner` has `lock` and
/// `heldByFork`, as above. Heap 0 always exists.
template <class Owner, std::size_t Count>
class OwnerSet {
public:
    constexpr OwnerSet() noexcept = default;
    OwnerSet(const OwnerSet&) = delete;
    OwnerSet& operator=(const OwnerSet&) = delete;
    ~OwnerSet() = default;

    /// The heap with a number; null if it was not added.
    [[nodiscard]] Owner* find(std::size_t index) const noexcept {
        return heaps_[index].load(std::memory_order_acquire);
    }
    [[nodiscard]] Owner& first() noexcept { return first_; }
    [[nodiscard]] Owner& global() noexcept { return global_; }

    /// Adds a heap under a number.
    /// Pre: the caller holds the global lock, the number is free.
    void add(std::size_t index, Owner& heap) noexcept {
        heaps_[index].store(&heap, std::memory_order_release);
        if (index >= end_.load(std::memory_order_relaxed)) {
            end_.store(static_cast<std::uint32_t>(index + 1), std::memory_order_release);
        }
        added_.store(added_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    /// Removes all heaps but the first.
    /// Pre: no other thread uses the set.
    void clear() noexcept {
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

    /// Post: this thread holds all locks, and no heap can be added.
    void beforeFork() noexcept {
        const bool first = lockUnlessHeld(first_);
        ++forks_; // protected by the lock of the first heap
        first_.heldByFork = first ? forks_ : first_.heldByFork;
        for (;;) {
            const std::uint32_t seen = added_.load(std::memory_order_acquire);
            forEachHeap([this](Owner& owner) { holdForFork(owner); });
            holdForFork(global_); // from here on no heap is added
            if (seen == added_.load(std::memory_order_relaxed) || global_.heldByFork != forks_) {
                return;
            }
            global_.heldByFork = 0;
            global_.lock.unlock();
        }
    }
    void afterForkInParent() noexcept {
        releaseAll([](auto& lock) { lock.unlock(); });
    }
    void afterForkInChild() noexcept {
        releaseAll([](auto& lock) { lock.reset(); });
    }

private:
    /// Takes a lock unless this thread holds it. True if the lock was taken.
    [[nodiscard]] static bool lockUnlessHeld(Owner& owner) noexcept {
        if (!platform::singleThreaded() && owner.lock.heldByThisThread()) {
            return false;
        }
        owner.lock.lock();
        return true;
    }
    void holdForFork(Owner& owner) noexcept {
        if (owner.heldByFork != forks_ && lockUnlessHeld(owner)) {
            owner.heldByFork = forks_;
        }
    }

    /// Releases the locks that the latest fork took, the first heap's lock last.
    template <class Release>
    void releaseAll(Release release) noexcept {
        const std::uint32_t fork = forks_;
        const auto releaseOne = [fork, release](Owner& owner) {
            if (owner.heldByFork == fork) {
                owner.heldByFork = 0;
                release(owner.lock);
            }
        };
        releaseOne(global_);
        forEachHeap([this, releaseOne](Owner& owner) {
            if (&owner != &first_) {
                releaseOne(owner);
            }
        });
        --forks_;
        releaseOne(first_);
    }

    // The order keeps the words that a process with one thread writes on few pages.
    std::array<SharedWord<Owner*>, Count> heaps_; ///< by number; null: not added
    Owner first_;
    SharedWord<std::uint32_t> end_{0};   ///< one more than the largest number added
    SharedWord<std::uint32_t> added_{0}; ///< number of heaps ever added
    std::uint32_t forks_ = 0;            ///< depth of nested forks of this thread
    Owner global_;
};

} // namespace heapwright
