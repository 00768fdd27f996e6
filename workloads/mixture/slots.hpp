// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Slots for objects that all threads share. A thread that finds a slot in use tries the next one.
// No thread ever waits, so the child of a fork can continue with slots that were in use at the
// fork.
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

    /// Puts an object into a slot and frees the previous one.
    void put(Random& random, const Object& object);

    /// Frees all objects.
    /// Pre: no other thread uses the slots.
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

/// A few objects of one thread only. When the thread ends, its destructor frees the remaining ones,
/// allocates once more, and puts an object into the slots.
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
