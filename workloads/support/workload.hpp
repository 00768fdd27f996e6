// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a named workload is: a description, parameters, and a body that is run once. The rest is the
// same for all of them: the command line, the observers, threads that start together, the JSON
// line.
#pragma once

#include "calls.hpp"
#include "watch.hpp"

#include <heapwright/core/random.hpp>

#include <atomic>
#include <cstdint>

namespace heapwright::workloads {

using heapwright::Random;

/// A number, or one of several names, that a workload can be given.
struct Parameter {
    const char* name; ///< as the option and the key of the result have it
    std::uint64_t value;
    std::uint64_t least;
    std::uint64_t most;
    bool scaled;           ///< --scale multiplies it
    const char* published; ///< as the literature has it; empty if it has none
    const char* meaning;
    /// Where it is one of several: their names, a null at the end; the value is which of them.
    const char* const* choices = nullptr;
};

/// Whose the contents of objects are when they are verified.
enum class Contents { Observers, Program };

struct Description {
    const char* name;
    const char* summary;   ///< one line
    const char* published; ///< how to reach the published size, and whose it is
    std::uint64_t threads; ///< unless asked for
    Contents contents;
    Parameter* parameters;
    std::size_t parameterCount;
};

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
