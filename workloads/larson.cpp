// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// larson: a server. Each of t lines of threads owns an array of blocks. A thread replaces random
// blocks by new ones of random size. After `steps` replacements it ends, and a successor takes over
// the array. A later thread thus frees what an earlier one allocated: the blocks "bleed". At the
// start, the main thread fills the arrays, shuffled over all of them.
// Source: Larson and Krishnan 1998.
#include "support/program.hpp"

#include <ctime>
#include <pthread.h>

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"blocks", 10'000, 1, 10'000'000, false, "10,000",
     "blocks in the array of each line of threads"},
    {"least", 10, 0, 1 << 30, false, "10", "the least size"},
    {"most", 100, 0, 1 << 30, false, "100", "the largest size"},
    {"steps", 100'000, 1, 1'000'000'000'000, false, "10 rounds of the blocks",
     "blocks that a thread replaces before its successor takes over"},
    {"lives", 50, 1, 1'000'000'000, true, "as many as 30 s allow",
     "threads that follow each other in each line"},
    {"duration", 0, 0, 86'400, false, "30 s",
     "stop after this time in seconds, for any value of `lives`; 0: no limit"},
};
const std::uint64_t& blocks = parameters[0].value;
const std::uint64_t& least = parameters[1].value;
const std::uint64_t& most = parameters[2].value;
const std::uint64_t& steps = parameters[3].value;
const std::uint64_t& lives = parameters[4].value;
const std::uint64_t& duration = parameters[5].value;

std::atomic<bool> stopped{false};

struct Line {
    Run* run;
    void** block;
    unsigned index;
    std::uint64_t life;
    std::uint64_t replaced;
};

void* newBlock(Random& random) {
    const std::uint64_t size = random.between(least, most);
    void* const block = allocate(size);
    use(block, size);
    return block;
}

void live(Line& line) {
    Random random(line.run->seed(), line.life * 100'003 + line.index + 1);
    std::uint64_t done = 0;
    for (; done < steps; ++done) {
        if (stopped.load(std::memory_order_relaxed)) {
            break;
        }
        void*& victim = line.block[random.below(blocks)];
        release(victim);
        victim = newBlock(random);
    }
    line.replaced += done;
}

/// The line's own thread only starts its members, one after the other, and waits for them.
void followEachOther(Line& line) {
    for (line.life = 0; (duration != 0 || line.life < lives) && !stopped.load(); ++line.life) {
        inThread(line.index, line.run->threads(), [&] { live(line); });
    }
    line.run->count(2 * line.replaced);
}

void fillAndShuffle(Run& run, void** block, std::uint64_t count) {
    Random random(run.seed());
    for (std::uint64_t at = 0; at < count; ++at) {
        block[at] = newBlock(random);
    }
    for (std::uint64_t at = count; at > 1; --at) {
        const std::uint64_t other = random.below(at);
        void* const moved = block[at - 1];
        block[at - 1] = block[other];
        block[other] = moved;
    }
    run.count(count);
}

void* stopLater(void*) {
    const double until = now() + static_cast<double>(duration);
    while (now() < until) {
        const timespec nap{0, 5'000'000};
        nanosleep(&nap, nullptr);
    }
    stopped = true;
    return nullptr;
}

void body(Run& run) {
    if (least > most) {
        usageError("--least is more than --most", parameters[1].name);
    }
    const std::uint64_t count = blocks * run.threads();
    void** const block = mapArray<void*>(count);
    Line* const lines = mapArray<Line>(run.threads());
    fillAndShuffle(run, block, count);
    for (unsigned index = 0; index < run.threads(); ++index) {
        lines[index] = {&run, block + index * blocks, index, 0, 0};
    }
    pthread_t clock{};
    if (duration != 0 && pthread_create(&clock, nullptr, stopLater, nullptr) != 0) {
        notStarted("the clock's thread", 1, 1, 11);
    }
    run.parallel([&](unsigned thread) { followEachOther(lines[thread]); });
    if (duration != 0) {
        pthread_join(clock, nullptr);
    }
    for (std::uint64_t at = 0; at < count; ++at) {
        release(block[at]);
    }
    run.count(count);
}

} // namespace

int main(int argc, char** argv) {
    Description larson{
        "larson",
        "a server: threads replace random blocks, and leave them to their successors",
        "--duration 30 (Berger 2002); operations / seconds",
        2,
        Contents::Observers,
        parameters,
        std::size(parameters)};
    return runWorkload(larson, argc, argv, body);
}
