// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a named workload is: a description, parameters, and a body that is run once. The rest is the
// same for all of them: the command line, the observers, threads that start together, the JSON
// line.
#pragma once

#include "calls.hpp"
#include "description.hpp"
#include "observers.hpp"

#include <heapwright/core/random.hpp>

#include <atomic>
#include <cstdint>

namespace heapwright::workloads {

using heapwright::Random;

/// One run, as the body sees it.
class Run {
public:
    unsigned threads() const { return threads_; }
    std::uint64_t seed() const { return seed_; }
    bool verifying() const { return verifying_; }

    /// Runs `work(thread)` on all threads at once, and counts its time: from the moment that the
    /// last of them is ready until the last has ended. May be called more than once; times add up.
    template <class Work>
    void parallel(const Work& work) {
        runThreads(
            threads_,
            [](const void* context, unsigned thread) {
                (*static_cast<const Work*>(context))(thread);
            },
            &work);
    }

    /// Calls of the allocator that have been made. Thread-safe; once a thread, not once a call.
    void count(std::uint64_t operations) {
        operations_.fetch_add(operations, std::memory_order_relaxed);
    }

    /// Something of its own that a workload has to say: a key of the result, and its
    /// last value. `name` must live on. For one thread.
    void report(const char* name, double value);

private:
    friend int runWorkload(Description&, int, char**, void (*)(Run&));
    void runThreads(unsigned count, void (*work)(const void*, unsigned), const void* context);

    struct Note {
        const char* name;
        double value;
    };

    unsigned threads_ = 1;
    std::uint64_t seed_ = 1;
    bool verifying_ = false;
    double seconds_ = 0;
    double cpuSeconds_ = 0; ///< of the same stretches
    std::atomic<std::uint64_t> operations_{0};
    Note notes_[8] = {};
};

/// The program: reads the command line, runs the body, prints the result; answers the exit status.
int runWorkload(Description& description, int argc, char** argv, void (*body)(Run&));

/// The clock that runs are timed with, in seconds.
double now();

} // namespace heapwright::workloads
