// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// cache-thrash, called active-false in 2002: each thread repeatedly allocates a small object, reads
// and writes it many times, and frees it. The threads share the work. It thus scales linearly
// unless the allocator places objects of two threads in one cache line.
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
    ObservedBarrier barrier(run.threads());
    run.parallel([&](unsigned) {
        thrash(iterations, size, writes / run.threads(), barrier);
        run.count(2 * iterations);
    });
}

} // namespace

int main(int argc, char** argv) {
    Description description{"cache-thrash",
                            "active-false: does malloc give two threads parts of one cache line?",
                            "--scale 1 (Berger 2002, figure 7.8a; Fischer 2018)",
                            2,
                            Contents::Observers,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
