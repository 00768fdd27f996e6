// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// round-robin: the producer-consumer pattern on P threads in turn: in round i thread i mod P
// allocates a batch, and the next thread frees it. Never more than one batch is live. Where what is
// freed goes back to the heap that it came from and stays there (ownership), each of the P heaps
// ends up holding a batch: P times the memory that is needed. After Berger et al. 2000.
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"batch", 10'000, 1, 100'000'000, false, "", "objects that are handed over at a time"},
    {"size", 64, 0, 1 << 30, false, "", "bytes of an object"},
    {"rounds", 100, 1, 1'000'000'000, true, "",
     "batches; at least as many as threads, so that each has its turn"},
};
const std::uint64_t& batch = parameters[0].value;
const std::uint64_t& size = parameters[1].value;
std::uint64_t& rounds = parameters[2].value;

void body(Run& run) {
    const unsigned threads = run.threads();
    rounds = rounds < 2 * threads ? 2 * threads : rounds;
    void** const objects = mapArray<void*>(batch);
    Barrier turn(threads);
    run.parallel([&](unsigned thread) {
        for (std::uint64_t round = 0; round < rounds; ++round) {
            if (round % threads == thread) {
                for (std::uint64_t at = 0; at < batch; ++at) {
                    objects[at] = allocate(size);
                    use(objects[at], size);
                }
                run.count(batch);
            }
            turn.wait();
            if ((round + 1) % threads == thread) {
                for (std::uint64_t at = 0; at < batch; ++at) {
                    release(objects[at]);
                }
                run.count(batch);
            }
            turn.wait();
        }
    });
}

} // namespace

int main(int argc, char** argv) {
    Description description{"round-robin",
                            "each thread in turn allocates what the next one frees: blowup by P",
                            "a pattern, not a program (Berger 2002, section 7.1.2)",
                            2,
                            Contents::Observers,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
