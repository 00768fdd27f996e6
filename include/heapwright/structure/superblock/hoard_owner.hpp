// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One of those between whom superblocks go from hand to hand
// (structure/superblock/hoard_memory.hpp): its lock and its superblocks. It stands in a block of
// memory for superblocks, which is nobody's, as its first two words say. The lock is counted where
// the rule asks for it.
#pragma once

#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/sync/counted_lock.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <cstdint>
#include <type_traits>

namespace heapwright {

/// For whom superblocks serve: nobody's cache at first, which is zero bytes. So heaps that stand in
/// a library need no place in its file, of which the system reads all that is near what is used.
class Tenant {
public:
    Tenant& operator=(OwnerTag key) noexcept {
        difference_ = key ^ keyOfSharedHeap(0);
        return *this;
    }
    operator OwnerTag() const noexcept { return difference_ ^ keyOfSharedHeap(0); }

private:
    OwnerTag difference_ = 0;
};

/// A rule that has the locks of its heaps counted.
template <class R>
concept CountedEmptiness = requires { requires R::counted; };

template <class Superblocks, class Rule>
struct alignas(64) HoardOwner {
    static constexpr bool counted = CountedEmptiness<Rule>;
    using Mutex = std::conditional_t<counted, CountedLock<FutexLock>, FutexLock>;

    OwnerTagWord home;      ///< where a superblock has its own, and
    void* nobody = nullptr; ///< where it says whose it is
    Mutex lock;
    std::uint32_t heldSince = 0; ///< the fork that holds it, counted from 1; 0: none
    Tenant tenant;               ///< for whom it serves from clean lines
    Superblocks superblocks;
};

} // namespace heapwright
