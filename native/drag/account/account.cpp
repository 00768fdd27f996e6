// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds, accesses and removes objects; account.hpp states the rules.
#include "drag/account/account.hpp"

#include <algorithm>

namespace heapwright::drag {

void Account::allocate(std::uint64_t address, std::uint64_t size, std::uint32_t site, bool unseen) {
    if (address == 0 || address >= AddressMap::limit || size >= AddressMap::limit - address) {
        ++oddities_.unplaced;
        return;
    }
    const std::uint64_t end = endOf(address, size);
    clearPlace(address, end);
    AddressMap::Number number = spare_;
    if (number != 0) {
        spare_ = objects_[number].nextSpare;
    } else {
        number = ++count_;
    }
    Object& object = objects_.make(number);
    const std::uint64_t birth = curves_.born(size);
    object.address = address;
    object.size = size;
    object.birth = birth;
    object.last.store(birth, std::memory_order_relaxed);
    object.site = site;
    object.touched.store(false, std::memory_order_relaxed);
    object.unseen = unseen;
    object.live = true;
    ++live_;
    map_.set(address, end, number);
    clock_.store(birth, std::memory_order_relaxed);
    // This visits all objects, so it is not done for a few gaps.
    if (curves_.wantsSettling() && curves_.unsettled() >= count_ / 4) {
        settle();
    }
}

bool Account::free(std::uint64_t address) {
    const AddressMap::Number number = map_.find(address);
    if (number == 0 || objects_[number].address != address) {
        oddities_.unknownFrees += address != 0 ? 1 : 0;
        return false;
    }
    end(number, false);
    return true;
}

void Account::reallocate(std::uint64_t old, std::uint64_t fresh, std::uint64_t size,
                         std::uint32_t site, bool unseen) {
    if (old != 0) {
        access(old, 1);
        free(old);
    }
    allocate(fresh, size, site, unseen);
}

/// The rest of an access that extends beyond its first object, which is already touched.
void Account::accessBehind(std::uint64_t address, std::uint64_t length, AddressMap::Number first) {
    const std::uint64_t end = std::min(length, AddressMap::limit) + address;
    AddressMap::Number before = first;
    for (std::uint64_t at = map_.next(address); at < end; at = map_.next(at)) {
        const AddressMap::Number number = map_.find(at);
        if (number != 0 && number != before) {
            touch(number);
        }
        before = number;
    }
}

void Account::end(AddressMap::Number number, bool unfreed) {
    Object& object = objects_[number];
    map_.set(object.address, endOf(object.address, object.size), 0);
    if (object.unseen && !object.touched.load(std::memory_order_relaxed)) {
        touch(number);
        ++unseen_.objects;
        unseen_.bytes += object.size;
    }
    curves_.ended({object.size, object.birth, object.last.load(std::memory_order_relaxed),
                   object.site, object.touched.load(std::memory_order_relaxed), unfreed});
    object.live = false;
    object.nextSpare = spare_;
    spare_ = number;
    --live_;
}

/// Removes objects whose end was not reported.
void Account::clearPlace(std::uint64_t begin, std::uint64_t stop) {
    for (std::uint64_t at = begin; at < stop; at = map_.next(at)) {
        if (const AddressMap::Number number = map_.find(at)) {
            end(number, false);
            ++oddities_.overwritten;
        }
    }
}

void Account::settle() {
    lastAccesses_.shorten(0);
    for (AddressMap::Number number = 1; number <= count_; ++number) {
        if (objects_[number].live) {
            lastAccesses_.push(objects_[number].last.load(std::memory_order_relaxed));
        }
    }
    curves_.settle(lastAccesses_.begin(), lastAccesses_.size());
}

void Account::finish() {
    for (AddressMap::Number number = 1; number <= count_; ++number) {
        if (objects_[number].live) {
            end(number, true);
        }
    }
}

} // namespace heapwright::drag
