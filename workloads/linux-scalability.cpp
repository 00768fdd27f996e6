// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// linux-scalability: each thread allocates and frees objects of one size, one at a time, a given
// number of times. Threads share nothing and keep nothing, so a second thread on a second processor
// should take no longer than the first alone.
// Source: Lever and Boreham 2000, as a model of a network server.
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"iterations", 1'000'000, 1, 1'000'000'000'000, true, "10,000,000 a thread",
     "objects of each thread"},
    {"size", 512, 0, 1 << 30, false, "512", "bytes of an object"},
};
const std::uint64_t& iterations = parameters[0].value;
const std::uint64_t& size = parameters[1].value;

void body(Run& run) {
    run.parallel([&](unsigned) {
        for (std::uint64_t each = 0; each < iterations; ++each) {
            release(allocate(size));
        }
        run.count(2 * iterations);
    });
}

} // namespace

int main(int argc, char** argv) {
    Description description{"linux-scalability",
                            "each thread allocates and frees objects of 512 bytes, one at a time",
                            "--scale 10 (Lever and Boreham 2000)",
                            2,
                            Contents::Observers,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
