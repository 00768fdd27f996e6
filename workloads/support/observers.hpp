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

/// A barrier that works only if lines are observed. In a workload that tests for false sharing, all
/// threads wait there until each has its object. Their objects are then live at the same time on
/// any number of processors.
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

/// Adds the observers to `under`. Call it before the first thread starts.
Calls observedCalls(const Calls& under, const Observing& watching);

/// The number of the calling thread, assigned at its first call.
ThreadNumber threadNumber();

/// Whether a program may write into its objects: false if the contents are the observers'.
extern bool contentsAreOurs;

/// The minimal use of an object: writes its first and its last byte.
inline void use(void* object, std::size_t size) {
    if (!contentsAreOurs && size != 0) {
        static_cast<volatile char*>(object)[0] = 'a';
        static_cast<volatile char*>(object)[size - 1] = 'z';
    }
}

const Lines::Found& linesFound();
Series& series();

/// Hold the observers' tables over a fork, so that the child finds them consistent.
void lockObservers();
void unlockObservers();

} // namespace heapwright::workloads
