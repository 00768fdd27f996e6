// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A barrier for the threads of a workload. It sleeps in the kernel and never allocates.
#pragma once

#include <pthread.h>

namespace heapwright::workloads {

class Barrier {
public:
    explicit Barrier(unsigned threads) { pthread_barrier_init(&barrier_, nullptr, threads); }
    ~Barrier() { pthread_barrier_destroy(&barrier_); }
    Barrier(const Barrier&) = delete;
    Barrier& operator=(const Barrier&) = delete;

    /// Returns true in one of the threads.
    bool wait() { return pthread_barrier_wait(&barrier_) == PTHREAD_BARRIER_SERIAL_THREAD; }

private:
    pthread_barrier_t barrier_;
};

} // namespace heapwright::workloads
