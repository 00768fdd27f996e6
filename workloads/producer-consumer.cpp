// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// producer-consumer: pairs of threads; one allocates a batch, the other frees it, repeatedly. At
// most one batch of each pair is live. With pure private heaps, freed memory stays with the thread
// that freed it. Then the producer needs new memory for every batch, and memory grows without
// bound. A thread without a partner does both.
// Source: Berger et al. 2000.
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"batch", 1000, 1, 100'000'000, false, "", "objects that are handed over at a time"},
    {"size", 64, 0, 1 << 30, false, "", "bytes of an object"},
    {"rounds", 1000, 1, 1'000'000'000, true, "", "batches of each pair"},
};
const std::uint64_t& batch = parameters[0].value;
const std::uint64_t& size = parameters[1].value;
const std::uint64_t& rounds = parameters[2].value;

void produce(void** objects) {
    for (std::uint64_t at = 0; at < batch; ++at) {
        objects[at] = allocate(size);
        use(objects[at], size);
    }
}

void consume(void** objects) {
    for (std::uint64_t at = 0; at < batch; ++at) {
        release(objects[at]);
    }
}

/// The batch that two threads exchange, and their synchronisation.
struct Pair {
    void** objects;
    pthread_barrier_t full;
    pthread_barrier_t empty;
};

void work(Run& run, Pair& pair, bool producing, bool consuming) {
    const bool alone = producing && consuming;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        if (producing) {
            produce(pair.objects);
        }
        if (!alone) {
            pthread_barrier_wait(&pair.full);
        }
        if (consuming) {
            consume(pair.objects);
        }
        if (!alone) {
            pthread_barrier_wait(&pair.empty);
        }
    }
    run.count(rounds * batch * (alone ? 2U : 1U));
}

void body(Run& run) {
    const unsigned threads = run.threads();
    Pair* const pairs = mapArray<Pair>((threads + 1) / 2);
    for (unsigned at = 0; at < (threads + 1) / 2; ++at) {
        pairs[at].objects = mapArray<void*>(batch);
        pthread_barrier_init(&pairs[at].full, nullptr, 2);
        pthread_barrier_init(&pairs[at].empty, nullptr, 2);
    }
    run.parallel([&](unsigned thread) {
        const bool alone = thread + 1 == threads && thread % 2 == 0;
        work(run, pairs[thread / 2], thread % 2 == 0, thread % 2 == 1 || alone);
    });
}

} // namespace

int main(int argc, char** argv) {
    Description description{"producer-consumer",
                            "one thread allocates what another frees: blowup of private heaps",
                            "a pattern, not a program (Berger 2002, section 7.1.2)",
                            2,
                            Contents::Observers,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
