// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The run of a workload whose threads do the same work in arenas of one kind. Under verification
// the work is repeated on the bump pointer, and the sums of both runs must be equal.
#pragma once

#include "support/bump.hpp"
#include "support/program.hpp"

#include <atomic>
#include <cstdint>

namespace heapwright::workloads {

/// The objects that one thread allocated, and a checksum of its results.
struct ArenaResult {
    std::uint64_t objects = 0;
    std::uint64_t sum = 0;
};

/// `work(thread)` returns the result in the arenas under test, `reference(thread)` the result in
/// general-purpose memory. `mismatch` is the message for different sums.
template <class Work, class Reference>
void runInArenas(Run& run, const Work& work, const Reference& reference, const char* mismatch) {
    std::atomic<std::uint64_t> objects{0};
    std::atomic<std::uint64_t> sum{0};
    run.parallel([&](unsigned thread) {
        const ArenaResult result = work(thread);
        objects += result.objects;
        sum += result.sum;
    });
    run.count(2 * objects);
    run.report("objects", static_cast<double>(objects));
    run.report("checksum", static_cast<double>(sum % 1'000'000'000));
    if (run.verifying()) {
        calls = bumpCalls(false);
        std::uint64_t expected = 0;
        for (unsigned thread = 0; thread < run.threads(); ++thread) {
            expected += reference(thread).sum;
        }
        if (expected != sum) {
            notVerified("%s", mismatch);
        }
    }
}

} // namespace heapwright::workloads
