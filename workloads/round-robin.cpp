// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// round-robin: the producer-consumer pattern on P threads in turn. In round i, thread i mod P
// allocates a batch, and the next thread frees it. At most one batch is live. Each thread also has
// one object, allocated after its batch and kept until its next turn. So, as in real programs, no
// heap can be returned as a whole. If freed memory returns to its heap and stays there (ownership),
// each of the P heaps ends up with a batch: P times the necessary memory.
// Source: Berger et al. 2000.
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"batch", 10'000, 1, 100'000'000, false, "", "objects that are handed over at a time"},
    {"size", 64, 0, 1 << 30, false, "", "bytes of an object"},
    {"rounds", 100, 1, 1'000'000'000, true, "",
     "batches; at least twice as many as threads, so that each has its turn"},
    {"keep", 1, 0, 1, false, "",
     "1: each thread keeps an object from turn to turn; 0: it does not"},
};
const std::uint64_t& batch = parameters[0].value;
const std::uint64_t& size = parameters[1].value;
std::uint64_t& rounds = parameters[2].value;
const std::uint64_t& keep = parameters[3].value;

void* newObject() {
    void* const object = allocate(size);
    use(object, size);
    return object;
}

void produce(Run& run, void** objects) {
    for (std::uint64_t at = 0; at < batch; ++at) {
        objects[at] = newObject();
    }
    run.count(batch);
}

void consume(Run& run, void** objects) {
    for (std::uint64_t at = 0; at < batch; ++at) {
        release(objects[at]);
    }
    run.count(batch);
}

/// Allocates the object that a thread keeps from now on and frees the previous one.
void* successor(Run& run, void* kept) {
    void* const object = newObject();
    release(kept);
    run.count(2);
    return object;
}

void body(Run& run) {
    const unsigned threads = run.threads();
    rounds = rounds < 2 * threads ? 2 * threads : rounds;
    void** const objects = mapArray<void*>(batch);
    Barrier turn(threads);
    run.parallel([&](unsigned thread) {
        void* kept = nullptr;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            if (round % threads == thread) {
                produce(run, objects);
                kept = keep != 0 ? successor(run, kept) : nullptr;
            }
            turn.wait();
            if ((round + 1) % threads == thread) {
                consume(run, objects);
            }
            turn.wait();
        }
        release(kept); // also of null
        run.count(1);
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
