// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The observers, between a workload and the allocator. Each object is known by its address: its
// size, who was given it, and what was written into it.
//
// - verification: no object may overlap a live one, each is aligned as its size asks (16 from 16
// bytes
//   on, 8 below) or as was asked for, calloc's is zero, what realloc moves is intact, and what was
//   written into all of an object when it was given out is still there when it is freed;
// - lines: see lines.hpp;
// - memory: see series.hpp.
//
// An object is recorded just after the allocator has given it out and struck off just before it
// gets it back. So its recorded life lies within its real one, whatever other threads do meanwhile:
// two recorded lives that meet did meet, and the allocator itself runs as concurrently as it always
// does.
#pragma once

#include "calls.hpp"
#include "lines.hpp"
#include "series.hpp"

#include <pthread.h>

namespace heapwright::workloads {

struct Watching {
    bool verify = false;
    bool lines = false;
    bool memory = false;
    /// Contents are the observers': they fill each object, and the program leaves it as it is. Else
    /// the program writes into its objects and checks its result by itself.
    bool contents = false;

    bool any() const { return verify || lines || memory; }
};

/// Where all threads of a workload that tests for false sharing wait until each has its object, if
/// lines are observed: what would live at the same time on as many processors then does on any
/// number.
class Meeting {
public:
    explicit Meeting(unsigned threads);
    ~Meeting();
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

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
Calls watchedCalls(const Calls& under, const Watching& watching);

/// The number of the calling thread, given at its first question.
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
void holdWatch();
void releaseWatch();

} // namespace heapwright::workloads
