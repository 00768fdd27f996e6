// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// idling: the memory that a service holds without requests. Each thread allocates objects that
// stay. It then grows a heap of objects of many sizes, mostly small. All of these except a few
// strays are freed in mixed order, half of them by the next thread. Then the program idles for a
// stated time: every thread sleeps, and occasionally wakes up for one small object, as for a timer.
// The result is the resident memory at the end. With `ending`, the threads end before that, and
// only the first one idles.
#include "support/program.hpp"

#include <cstring>
#include <ctime>

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"objects", 40'000, 1, 1'000'000'000, true, "", "objects that all threads together allocate"},
    {"most", 4096, 16, 1 << 30, false, "",
     "the largest size; half of the objects are below a sixteenth of it"},
    {"stay", 5, 0, 100, false, "", "how many of a hundred objects, the first ones, stay"},
    {"strays", 1, 0, 1000, false, "", "how many of a thousand of the others stay, too"},
    {"idle", 1000, 0, 86'400'000, false, "", "milliseconds that the program idles"},
    {"wakes", 10, 0, 1'000'000, false, "", "times that a thread wakes up meanwhile"},
    {"ending", 0, 0, 1, false, "", "1: the threads end before, and only the first one idles"},
};
const std::uint64_t& objects = parameters[0].value;
const std::uint64_t& most = parameters[1].value;
const std::uint64_t& stay = parameters[2].value;
const std::uint64_t& strays = parameters[3].value;
const std::uint64_t& idle = parameters[4].value;
const std::uint64_t& wakes = parameters[5].value;
const std::uint64_t& ending = parameters[6].value;

/// The allocations of one thread: the objects that stay, then the strays, then the others.
struct Share {
    void** objects;
    std::uint64_t count;
    std::uint64_t kept;
};

std::uint64_t sizeFrom(Random& random) {
    return random.below(2) == 0 ? random.between(16, most / 16 < 16 ? 16 : most / 16)
                                : random.between(16, most);
}

/// The objects to free are in an order unrelated to that of their allocation.
void grow(Share& share, Random& random) {
    const std::uint64_t base = share.count * stay / 100;
    for (std::uint64_t at = 0; at < share.count; ++at) {
        const std::uint64_t size = sizeFrom(random);
        share.objects[at] = allocate(size);
        if (!contentsAreOurs) {
            std::memset(share.objects[at], 1, size);
        }
    }
    for (std::uint64_t at = share.count; at > base + 1; --at) {
        const std::uint64_t other = random.between(base, at - 1);
        void* const moved = share.objects[at - 1];
        share.objects[at - 1] = share.objects[other];
        share.objects[other] = moved;
    }
}

/// Frees the even or the odd ones of the objects that do not stay, so that two threads free them.
void shrink(const Share& share, std::uint64_t parity) {
    for (std::uint64_t at = share.kept; at < share.count; ++at) {
        if (at % 2 == parity) {
            release(share.objects[at]);
        }
    }
}

void sleepFor(std::uint64_t microseconds) {
    timespec rest{static_cast<time_t>(microseconds / 1'000'000),
                  static_cast<long>(microseconds % 1'000'000 * 1000)};
    while (nanosleep(&rest, &rest) != 0) {
    }
}

void rest() {
    for (std::uint64_t done = 0; done < wakes; ++done) {
        sleepFor(idle * 1000 / (wakes + 1));
        void* const object = allocate(100);
        use(object, 100);
        release(object);
    }
    sleepFor(idle * 1000 / (wakes + 1));
}

/// The state that all threads of a run share.
struct Service {
    Run& run;
    Share* shares;
    Barrier grown;
    Barrier shrunk;
    Barrier rested;

    void work(unsigned thread) {
        Random random(run.seed(), thread);
        grow(shares[thread], random);
        if (grown.wait()) {
            run.report("resident_grown", static_cast<double>(residentBytes()));
        }
        grown.wait(); // no thread frees before this
        shrink(shares[thread], 0);
        shrink(shares[(thread + 1) % run.threads()], 1);
        run.count(2 * shares[thread].count - shares[thread].kept);
        if (shrunk.wait()) {
            run.report("resident_freed", static_cast<double>(residentBytes()));
        }
        shrunk.wait();
    }

    void restTogether() {
        rest();
        run.count(2 * wakes);
        if (rested.wait()) {
            run.report("resident_idle", static_cast<double>(residentBytes()));
        }
    }
};

void prepare(Run& run, Share* shares) {
    for (unsigned thread = 0; thread < run.threads(); ++thread) {
        Share& share = shares[thread];
        share.count = objects / run.threads() + (thread < objects % run.threads() ? 1U : 0U);
        const std::uint64_t base = share.count * stay / 100;
        share.kept = base + (share.count - base) * strays / 1000;
        share.objects = mapArray<void*>(share.count);
    }
}

void body(Run& run) {
    Share* const shares = mapArray<Share>(run.threads());
    prepare(run, shares);
    const unsigned resting = ending != 0 ? 1 : run.threads();
    Service service{run, shares, Barrier(run.threads()), Barrier(run.threads()), Barrier(resting)};
    run.parallel([&](unsigned thread) {
        service.work(thread);
        if (ending == 0) {
            service.restTogether();
        }
    });
    if (ending != 0) {
        service.restTogether();
    }
    for (unsigned thread = 0; thread < run.threads(); ++thread) {
        for (std::uint64_t at = 0; at < shares[thread].kept; ++at) {
            release(shares[thread].objects[at]);
        }
        run.count(shares[thread].kept);
    }
}

} // namespace

int main(int argc, char** argv) {
    Description idling{"idling",
                       "threads grow heaps, free most of them and idle: what stays resident",
                       "not published; resident_idle, and the runner's memory at the end",
                       2,
                       Contents::Observers,
                       parameters,
                       std::size(parameters)};
    return runWorkload(idling, argc, argv, body);
}
