// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the allocator still over a scope, as a fork does: every lock of it is taken, so that it can
// be looked at whole. Whoever holds it must not allocate.
#pragma once

namespace heapwright::preload {

template <class Allocator>
class HeldStill {
public:
    explicit HeldStill(Allocator& allocator) noexcept : allocator_(allocator) {
        allocator_.beforeFork();
    }
    HeldStill(const HeldStill&) = delete;
    HeldStill& operator=(const HeldStill&) = delete;
    ~HeldStill() { allocator_.afterForkInParent(); }

private:
    Allocator& allocator_;
};

} // namespace heapwright::preload
