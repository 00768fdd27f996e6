// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The observers between a workload and the allocator. For each object they record its address,
// size, thread and contents.
//
// - verification: live objects do not overlap. Each is aligned as its size requires (16 from 16
// bytes
//   on, 8 below) or as requested. Memory of calloc is zero. Contents survive realloc and are intact
//   at the free;
// - lines: see lines.hpp;
// - memory: see series.hpp.
//
// An object is recorded after its allocation returns and removed before its free is called. The
// recorded lifetime lies within the real one, so two recorded lifetimes that overlap did overlap.
// The allocator runs as concurrently as without observers.
#pragma once

#include "calls.hpp"
#include "lines.hpp"
#include "series.hpp"

#include <pthread.h>

namespace heapwright::workloads {

struct Observing {
    bool verify = false;
    bool lines = false;
    bool memory = false;
    /// The observers fill each object, and the program does not write to it. Otherwise the program
    /// writes to its objects and checks its own result.
    bool contents = false;

    bool any() const { return verify || lines || memory; }
};

/// Where all threads of a workload that tests for false sharing wait until each has its object, if
/// lines are observed: what would live at the same time on as many processors then does on any
/// number.
class ObservedBarrier {
public:
    explicit ObservedBarrier(unsigned threads);
    ~ObservedBarrier();
    ObservedBarrier(const ObservedBarrier&) = delete;
    ObservedBarrier& operator=(const ObservedBarrier&) = delete;

    void wait() {
        if (observed_) {
            pthread_barrier_wait(&barrier_);
        }
    }

private:
    bool observed_;
    pthread_barrier_t barrier_;
};

/// Puts the observers on `under`; call before the first thread starts.
Calls observedCalls(const Calls& under, const Observing& watching);

/// The number of the calling thread, assigned at its first call.
ThreadNumber threadNumber();

/// Whether a program may write into its objects: not when the contents are the observers'.
extern bool contentsAreOurs;

/// The least that a program does with an object: writes its first and its last byte.
inline void use(void* object, std::size_t size) {
    if (!contentsAreOurs && size != 0) {
        static_cast<volatile char*>(object)[0] = 'a';
        static_cast<volatile char*>(object)[size - 1] = 'z';
    }
}

const Lines::Found& linesFound();
Series& series();

/// Around a fork, so that the child finds the observers' tables whole.
void lockObservers();
void unlockObservers();

} // namespace heapwright::workloads
