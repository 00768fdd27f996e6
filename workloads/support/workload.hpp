// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A named workload: a description, parameters, and a body that runs once. All workloads share the
// rest: the command line, the observers, threads that start together, the JSON line.
#pragma once

#include "calls.hpp"
#include "description.hpp"
#include "events.hpp"
#include "observers.hpp"

#include <heapwright/core/random.hpp>

#include <atomic>
#include <cstdint>

namespace heapwright::workloads {

using heapwright::Random;

/// One run, as seen by the body.
class Run {
public:
    unsigned threads() const { return threads_; }
    std::uint64_t seed() const { return seed_; }
    bool verifying() const { return verifying_; }

    /// Runs `work(thread)` on all threads at once and measures the time from when the last thread
    /// is ready until the last one has ended. May be called several times; the times add up.
    template <class Work>
    void parallel(const Work& work) {
        measure(runThreads(threads_, call<Work>, &work));
    }

    /// Runs `work(thread)` on all threads at once, outside the measured time. Events count from the
    /// end of the first preparation to that of the last measured period.
    template <class Work>
    void prepare(const Work& work) {
        runThreads(threads_, call<Work>, &work);
        if (!prepared_) {
            events_.restart();
        }
        prepared_ = true;
    }

    /// Adds calls of the allocator. Thread-safe. Call it once for each thread, not for each call.
    void count(std::uint64_t operations) {
        operations_.fetch_add(operations, std::memory_order_relaxed);
    }

    /// Adds a key of the workload's own to the result, with its last value. For one thread.
    /// Pre: `name` outlives the run.
    void report(const char* name, double value);

private:
    friend int runWorkload(Description&, int, char**, void (*)(Run&));

    /// A period in which all threads ran.
    struct Period {
        double seconds;
        double cpuSeconds;
    };

    template <class Work>
    static void call(const void* context, unsigned thread) {
        (*static_cast<const Work*>(context))(thread);
    }

    static Period runThreads(unsigned count, void (*work)(const void*, unsigned),
                             const void* context);
    void measure(const Period& period);

    struct Note {
        const char* name;
        double value;
    };

    unsigned threads_ = 1;
    std::uint64_t seed_ = 1;
    bool verifying_ = false;
    double seconds_ = 0;
    double cpuSeconds_ = 0; ///< CPU time of the same periods
    std::atomic<std::uint64_t> operations_{0};
    Note notes_[8] = {};
    Events events_;
    bool prepared_ = false;
};

/// The program: reads the command line, runs the body, prints the result, and returns the exit
/// status.
int runWorkload(Description& description, int argc, char** argv, void (*body)(Run&));

/// The clock of the runs, in seconds.
double now();

} // namespace heapwright::workloads
