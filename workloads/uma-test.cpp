// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// uma-test: the synthetic load of a factorial study. A script of steps is prepared first, untimed:
// for each block its size and whether it is long-lived. Each thread then runs its share. It
// allocates a block, fills it with zeros, and frees it at once, or at the end if it is long-lived.
// In the pattern `peak`, a thread's long-lived blocks come first; in `growing`, they are spread
// evenly.
// Source: Costa 2014, chapter 5.
#include "support/program.hpp"

#include <cstring>
#include <sched.h>

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"allocations", 500'000, 1, 1'000'000'000, true, "500,000, 1,000,000 and 10,000,000",
     "steps of all threads together"},
    {"least", 16, 0, 1 << 30, false, "16 (1 elsewhere), 64, 512", "the least size"},
    {"most", 64, 0, 1 << 30, false, "64, 512, 2048", "the largest size"},
    {"growing", 0, 0, 1, false, "both",
     "0: the long-lived ones come first (peak); 1: evenly spread"},
    {"long", 20, 0, 100, false, "20", "how many of a hundred live to the end"},
    {"processors", 0, 0, 1024, false, "1, 2, 4, 8, 16 and 32",
     "processors that the run is confined to; 0: all"},
};
const std::uint64_t& allocations = parameters[0].value;
const std::uint64_t& least = parameters[1].value;
const std::uint64_t& most = parameters[2].value;
const std::uint64_t& growing = parameters[3].value;
const std::uint64_t& longLived = parameters[4].value;
const std::uint64_t& processors = parameters[5].value;

struct Step {
    std::uint32_t size;
    bool stays;
};

/// A thread's share of the script, and the table of its long-lived blocks.
struct Share {
    Step* steps;
    std::uint64_t count;
    void** kept;
    std::uint64_t keptCount;
};

void prepare(Share& share, Random random) {
    const std::uint64_t staying = share.count * longLived / 100;
    for (std::uint64_t at = 0; at < share.count; ++at) {
        const bool evenly = (at + 1) * longLived / 100 > at * longLived / 100;
        share.steps[at] = {static_cast<std::uint32_t>(random.between(least, most)),
                           growing != 0 ? evenly : at < staying};
    }
}

void work(Share& share) {
    for (std::uint64_t at = 0; at < share.count; ++at) {
        const Step step = share.steps[at];
        void* const block = allocate(step.size);
        if (!contentsAreOurs) {
            std::memset(block, 0, step.size);
        }
        if (step.stays) {
            share.kept[share.keptCount++] = block;
        } else {
            release(block);
        }
    }
}

/// Confines the process to the first of the processors that it may use.
void confine() {
    cpu_set_t allowed;
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    sched_getaffinity(0, sizeof allowed, &allowed);
    std::uint64_t many = 0;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && many < processors; ++cpu) {
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_SET(cpu, &chosen);
            ++many;
        }
    }
    if (many < processors) {
        usageError("the machine has fewer processors", "--processors");
    }
    sched_setaffinity(0, sizeof chosen, &chosen);
}

void body(Run& run) {
    if (least > most) {
        usageError("--least is more than --most", parameters[1].name);
    }
    if (processors != 0) {
        confine();
    }
    Share* const shares = mapArray<Share>(run.threads());
    for (unsigned thread = 0; thread < run.threads(); ++thread) {
        Share& share = shares[thread];
        share.count =
            allocations / run.threads() + (thread < allocations % run.threads() ? 1U : 0U);
        share.steps = mapArray<Step>(share.count);
        share.kept = mapArray<void*>(share.count * longLived / 100 + 1);
        prepare(share, Random(run.seed(), thread));
    }
    Barrier kept(run.threads());
    run.parallel([&](unsigned thread) {
        work(shares[thread]);
        if (kept.wait()) {
            run.report("resident_kept", static_cast<double>(residentBytes()));
        }
        for (std::uint64_t at = 0; at < shares[thread].keptCount; ++at) {
            release(shares[thread].kept[at]);
        }
        run.count(2 * shares[thread].count);
    });
    run.report("resident_end", static_cast<double>(residentBytes()));
}

} // namespace

int main(int argc, char** argv) {
    Description description{"uma-test",
                            "the factorial study's load: short and long lives, peak or growing",
                            "the levels of each parameter are the study's (Costa 2014, table 5.3)",
                            2,
                            Contents::Observers,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
