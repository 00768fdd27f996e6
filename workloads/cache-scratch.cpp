// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// cache-scratch, called passive-false in 2002: as cache-thrash, but the main thread first allocates
// one object for each thread, and these are adjacent. Each thread frees its object and continues as
// in cache-thrash. An allocator that reuses this memory for the same thread makes threads share
// cache lines: passive false sharing.
// Source: Berger et al. 2000.
#include "support/line_writes.hpp"
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"iterations", 100, 1, 1'000'000'000, false, "100", "objects of each thread"},
    {"writes", 1'000'000, 1, 1'000'000'000'000, true, "1,000,000",
     "reads and writes of each object, shared among the threads"},
    {"size", 8, 1, 1 << 20, false, "8", "bytes of an object"},
};
const std::uint64_t& iterations = parameters[0].value;
const std::uint64_t& writes = parameters[1].value;
const std::uint64_t& size = parameters[2].value;

void body(Run& run) {
    void** const given = mapArray<void*>(run.threads());
    for (unsigned thread = 0; thread < run.threads(); ++thread) {
        given[thread] = allocate(size);
        use(given[thread], size);
    }
    ObservedBarrier barrier(run.threads());
    run.parallel([&](unsigned thread) {
        release(given[thread]);
        thrash(iterations, size, writes / run.threads(), barrier);
        run.count(2 * iterations + 2);
    });
}

} // namespace

int main(int argc, char** argv) {
    Description description{"cache-scratch",
                            "passive-false: does a thread get lines again that others still use?",
                            "--scale 1 (Berger 2002, figure 7.8b; Fischer 2018)",
                            2,
                            Contents::Observers,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
