// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts what the calls of a model do on the simulated processors: virtual instructions, locks, and
// movements of cache lines.
//
// A build with `HEAPWRIGHT_OBSERVED` compiles the models with the compiler's instrumentation of
// loads, stores, atomic operations and basic blocks. Each of these calls a function of
// observer.cpp, and each is one virtual instruction. So no model contains a counter, and no access
// is missed. Between `leave` and `enter`, nothing counts.
//
// Lines of 64 bytes move as in a protocol with the states modified, exclusive, shared and invalid
// (MESI), between caches without limit of size. A line moves when a processor reads or writes it
// without a copy, and another processor has one. A write to a line with copies elsewhere
// invalidates them. Only lines in the watched memory are followed: the pages, their descriptors and
// the heap. Accesses of the users of objects are not. Invariant: one thread, one observation.
#pragma once

#include "kernelsim/outcome.hpp"

#include <cstddef>

namespace heapwright::kernelsim {

/// Whether this build counts.
inline constexpr bool observed =
#ifdef HEAPWRIGHT_OBSERVED
    true;
#else
    false;
#endif

namespace observer {

/// Forgets all counts, lines and locks.
void reset();
/// Follows the lines of this memory from now on. Its start is aligned to a line.
void watch(const void* start, std::size_t bytes);
/// Counts, as work of this processor.
void enter(std::size_t processor) noexcept;
void leave() noexcept;
/// The user of an object reads and writes its first line on this processor.
void useObject(const void* object, std::size_t processor) noexcept;

/// Pre: locks are released in the opposite order in which they were taken.
void tookLock(const void* lock) noexcept;
void releasedLock(const void* lock) noexcept;
/// The lock inside this memory belongs to one processor: a kernel disables preemption instead.
void markOwn(const void* lock, std::size_t bytes);

/// What was counted since `reset`.
Counts counts();

} // namespace observer

/// Counts the calls in a scope as work of a processor.
class Observed {
public:
    explicit Observed(std::size_t processor) noexcept {
        if constexpr (observed)
            observer::enter(processor);
    }
    Observed(const Observed&) = delete;
    Observed& operator=(const Observed&) = delete;
    ~Observed() {
        if constexpr (observed)
            observer::leave();
    }
};

} // namespace heapwright::kernelsim
