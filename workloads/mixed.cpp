// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// mixed: a stress test, not a comparison. Threads allocate in every way of C and C++, in all sizes,
// and put the objects into slots that all threads share. They free, resize or take over the objects
// that they find there, so most frees are of another thread's objects. Threads end at random, with
// work for their destructors, and others start. Occasionally a thread forks while all others
// continue. The child frees and allocates what it has inherited, starts threads of its own, and
// exits. Use it with --verify.
#include "mixture/forks.hpp"
#include "mixture/requests.hpp"
#include "mixture/slots.hpp"
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"visits", 100'000, 1, 1'000'000'000'000, true, "", "visits of a slot by each line of threads"},
    {"slots", 2048, 1, 10'000'000, false, "", "places for live objects"},
    {"life", 5000, 1, 1'000'000'000, false, "",
     "visits before a thread ends and another goes on, on average"},
    {"forks", 10, 0, 100'000, true, "", "forks of each line"},
    {"largest", 1 << 20, 64, 1 << 30, false, "",
     "the largest size; one request in a thousand comes near it"},
    {"duration", 0, 0, 86'400, false, "",
     "run for this time in seconds, for any value of `visits`; 0: no limit"},
};
const std::uint64_t& visits = parameters[0].value;
const std::uint64_t& slotCount = parameters[1].value;
const std::uint64_t& life = parameters[2].value;
const std::uint64_t& forks = parameters[3].value;
const std::uint64_t& largest = parameters[4].value;
const std::uint64_t& duration = parameters[5].value;

void visitMany(Slots& slots, Random& random, std::uint64_t times) {
    Keeping keeping(slots); // its destructor frees the objects that this thread keeps
    for (std::uint64_t each = 0; each < times; ++each) {
        slots.visit(random, largest);
        if (random.below(64) == 0) {
            keeping.touch(random);
        }
    }
}

/// A line of successive threads until the work is done.
void line(Run& run, Slots& slots, unsigned index) {
    Random random(run.seed(), index);
    const double until = now() + static_cast<double>(duration);
    std::uint64_t forked = 0;
    for (std::uint64_t done = 0; duration != 0 ? now() < until : done < visits;) {
        const std::uint64_t left = duration != 0 ? UINT64_MAX : visits - done;
        const std::uint64_t drawn = random.between(1, 2 * life);
        const std::uint64_t times = drawn < left ? drawn : left;
        inThread(index, run.threads(), [&] { visitMany(slots, random, times); });
        done += times;
        const std::uint64_t due = duration != 0 ? forks : forks * done / visits;
        if (forked < due && (duration == 0 || random.below(8) == 0)) {
            inChild([&] {
                Random other(run.seed() + 1, index + 1000 * (forked + 1));
                visitMany(slots, other, life);
                inThread(0, 1, [&] { visitMany(slots, other, life); });
            });
            ++forked;
        }
    }
}

void body(Run& run) {
    Slots slots(slotCount);
    run.parallel([&](unsigned thread) { line(run, slots, thread); });
    slots.clear();
    run.count(slots.operations());
}

} // namespace

int main(int argc, char** argv) {
    // Set before any allocation, so that it applies to observers and the bump pointer too.
    systemCalls.create = newObject;
    systemCalls.destroy = deleteObject;
    Description description{"mixed",
                            "stress: every kind of request, threads that come and go, forks",
                            "not published; made to find faults, not to compare",
                            4,
                            Contents::Observers,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
