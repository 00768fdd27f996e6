// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the account of a program's memory. It has the program's objects, and the time of the last
// access to each. From that it computes the curves of drag (defined in curves.hpp). Its input:
//
//   allocate(address, size, site)   the object is the program's from now on
//   access(address, length)         the program read or wrote there; an object that it lies in is
//                                   needed until now, however small the part
//   free(address)                   the program freed the object; that is no access
//   reallocate(old, fresh, …)       the old object is accessed and freed, then the new one is
//                                   allocated with its whole size: the figures do not depend on
//                                   whether the allocator moved it
//   finish()                        the program has ended; live objects were never freed
//
// Cost: memory in proportion to the live objects and their span; the time of a call does not grow
// with their number. The account does not call malloc, so it works inside a program whose malloc it
// observes. Any thread may call `access` at any time, without a lock: it finds the object and
// stores the clock. All other functions are for one thread at a time. (An allocation and an access
// by two threads at the same moment may be seen in either order.)
//
// Pre: objects begin at multiples of 8, as with any malloc.
#pragma once

#include "drag/account/address_map.hpp"
#include "drag/account/curves.hpp"

#include <atomic>
#include <cstdint>

namespace heapwright::drag {

class Account {
public:
    /// Inconsistent input.
    struct Oddities {
        std::uint64_t unknownFrees = 0; ///< frees of addresses without a live object, except null
        std::uint64_t overwritten = 0;  ///< objects at whose address another was allocated
        std::uint64_t unplaced = 0;     ///< objects at impossible addresses, which are ignored
    };

    /// Objects that count as needed until their free.
    struct Unseen {
        std::uint64_t objects = 0;
        std::uint64_t bytes = 0;
    };

    /// `unseen`: accesses to the object cannot be observed if they come from the code that
    /// allocated it. The object then counts as needed while it is live, unless some access to it is
    /// observed.
    void allocate(std::uint64_t address, std::uint64_t size, std::uint32_t site,
                  bool unseen = false);
    /// Returns false if no live object begins there.
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

    /// The object that contains an address, or 0.
    AddressMap::Number find(std::uint64_t address) const { return map_.find(address); }
    std::uint64_t sizeOf(AddressMap::Number number) const { return objects_[number].size; }

    /// Ends all live objects.
    /// Pre: no function is called afterwards.
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
        AddressMap::Number nextSpare; ///< while its number is free for reuse
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

    /// The end of an object in the map: at least one byte, so that it can be found.
    static std::uint64_t endOf(std::uint64_t address, std::uint64_t size) {
        return address + (size != 0 ? size : 1);
    }

    AddressMap map_;
    PagedArray<Object> objects_; ///< by number, from 1
    AddressMap::Number count_ = 0;
    AddressMap::Number spare_ = 0;
    std::uint64_t live_ = 0;
    std::atomic<std::uint64_t> clock_ = 0; ///< the clock of the curves, for all threads
    Curves curves_;
    Oddities oddities_;
    Unseen unseen_;
    PageVector<std::uint64_t> lastAccesses_; ///< of live objects, while curves are settled
};

} // namespace heapwright::drag
