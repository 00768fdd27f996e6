// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Slots for objects that all threads share. A thread that finds a slot in use by another goes to
// the next: nobody ever waits, so that a child of a fork can go on with slots that were in use when
// it was made.
#pragma once

#include "requests.hpp"

#include <atomic>
#include <cstdint>

namespace heapwright::workloads {

class Slots {
public:
    explicit Slots(std::uint64_t count);
    Slots(const Slots&) = delete;
    Slots& operator=(const Slots&) = delete;

    /// Frees, resizes, replaces or fills a random slot.
    void visit(Random& random, std::size_t largest);

    /// Puts an object into a slot, and frees what was there.
    void put(Random& random, const Object& object);

    /// Frees all, when nobody else is there.
    void clear();

    std::uint64_t operations() const { return operations_.load(std::memory_order_relaxed); }

private:
    struct Slot {
        std::atomic<bool> busy;
        Object object;
    };

    Slot& take(Random& random);
    void leave(Slot& slot) { slot.busy.store(false, std::memory_order_release); }

    std::uint64_t count_;
    Slot* slots_;
    std::atomic<std::uint64_t> operations_{0};
};

/// A few objects that only one thread has. What is left of them when it ends is seen to by a
/// destructor of the thread's, which allocates once more and hands an object to the slots.
class Keeping {
public:
    explicit Keeping(Slots& slots);

    /// Replaces one of them.
    void touch(Random& random);

private:
    struct Kept;
    static void end(void* kept);

    Kept* kept_;
};

} // namespace heapwright::workloads
