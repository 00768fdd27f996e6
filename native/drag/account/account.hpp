// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the account of a program's memory: which objects there are, when each was accessed last,
// and from that the curves of drag (curves.hpp says what they mean). What it is told:
//
//   allocate(address, size, site)   the object is the program's from now on
//   access(address, length)         the program read or wrote there; an object that it lies in is
//                                   needed until now, however small the part
//   free(address)                   the program gave the object back; that is no access
//   reallocate(old, fresh, …)       the old object is accessed and freed, then the new one is
//                                   allocated with its whole size: the figures do not depend on
//                                   whether the allocator moved it
//   finish()                        the program is over; what is live was never freed
//
// Memory is proportional to the live objects and what they span; time does not grow with their
// number. Nothing is asked of malloc, so it serves inside a program whose malloc is watched.
// `access` may be called by any thread at any time, without a lock: it looks the address up and
// stores the clock. All else is for one thread at a time. (Threads that allocate and access at the
// same moment are in either order, as they are for the program.)
//
// Pre: objects begin at multiples of 8, as those of every malloc do.
#pragma once

#include "drag/account/address_map.hpp"
#include "drag/account/curves.hpp"

#include <atomic>
#include <cstdint>

namespace heapwright::drag {

class Account {
public:
    /// What was said that cannot be.
    struct Oddities {
        std::uint64_t unknownFrees = 0; ///< frees of what is no live object; null is none
        std::uint64_t overwritten = 0;  ///< objects in whose place another was allocated
        std::uint64_t unplaced = 0;     ///< objects at addresses that no program has: left out
    };

    /// Objects that are taken for needed until they were freed.
    struct Unseen {
        std::uint64_t objects = 0;
        std::uint64_t bytes = 0;
    };

    /// Whose accesses cannot be seen where they come from the same code as the object, which is
    /// then taken for needed as long as it is there, unless any access to it is seen after all:
    /// `unseen`.
    void allocate(std::uint64_t address, std::uint64_t size, std::uint32_t site,
                  bool unseen = false);
    /// False if no live object begins there.
    bool free(std::uint64_t address);
    void reallocate(std::uint64_t old, std::uint64_t fresh, std::uint64_t size, std::uint32_t site,
                    bool unseen = false);

    void access(std::uint64_t address, std::uint64_t length) {
        const AddressMap::Number number = map_.find(address);
        if (number != 0) [[unlikely]] {
            touch(number);
        }
        if (((address ^ (address + length - 1)) & ~std::uint64_t{7}) != 0 && length != 0) {
            accessBehind(address, length, number);
        }
    }

    /// The object that an address lies in, or 0; its size is `sizeOf`.
    AddressMap::Number find(std::uint64_t address) const { return map_.find(address); }
    std::uint64_t sizeOf(AddressMap::Number number) const { return objects_[number].size; }

    /// Ends what is live. Nothing is to be told afterwards.
    void finish();

    const Curves& curves() const { return curves_; }
    const Oddities& oddities() const { return oddities_; }
    const Unseen& unseen() const { return unseen_; }
    std::uint64_t liveObjects() const { return live_; }

private:
    struct Object {
        std::uint64_t address;
        std::uint64_t size;
        std::uint64_t birth;
        std::atomic<std::uint64_t> last; ///< the clock at its last access
        std::uint32_t site;
        AddressMap::Number nextSpare; ///< while its number waits to serve again
        std::atomic<bool> touched;
        bool unseen;
        bool live;
    };

    void touch(AddressMap::Number number) {
        Object& object = objects_[number];
        const std::uint64_t now = clock_.load(std::memory_order_relaxed);
        if (object.last.load(std::memory_order_relaxed) != now) {
            object.last.store(now, std::memory_order_relaxed);
        }
        if (!object.touched.load(std::memory_order_relaxed)) {
            object.touched.store(true, std::memory_order_relaxed);
        }
    }
    void accessBehind(std::uint64_t address, std::uint64_t length, AddressMap::Number first);
    void end(AddressMap::Number number, bool unfreed);
    void clearPlace(std::uint64_t begin, std::uint64_t end);
    void settle();

    /// The bytes that stand in the map for an object: one at least, so that it can be found.
    static std::uint64_t endOf(std::uint64_t address, std::uint64_t size) {
        return address + (size != 0 ? size : 1);
    }

    AddressMap map_;
    PagedArray<Object> objects_; ///< by number, from 1
    AddressMap::Number count_ = 0;
    AddressMap::Number spare_ = 0;
    std::uint64_t live_ = 0;
    std::atomic<std::uint64_t> clock_ = 0; ///< that of the curves, for all threads
    Curves curves_;
    Oddities oddities_;
    Unseen unseen_;
    PageVector<std::uint64_t> lastAccesses_; ///< of live objects, while curves are settled
};

} // namespace heapwright::drag
