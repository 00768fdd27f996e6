// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds all locks of an allocator over a scope, as a fork does, so that its state is consistent.
// The holder must not allocate.
#pragma once

namespace heapwright::preload {

template <class Allocator>
class LockedHeapGuard {
public:
    explicit LockedHeapGuard(Allocator& allocator) noexcept : allocator_(allocator) {
        allocator_.beforeFork();
    }
    LockedHeapGuard(const LockedHeapGuard&) = delete;
    LockedHeapGuard& operator=(const LockedHeapGuard&) = delete;
    ~LockedHeapGuard() { allocator_.afterForkInParent(); }

private:
    Allocator& allocator_;
};

} // namespace heapwright::preload
