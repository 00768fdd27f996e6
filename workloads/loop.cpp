// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// loop: each thread allocates an object of a pseudo-random size and frees it at once, a million
// times. The objects are not written, so only the allocator's own path is timed. Every request
// follows a free of the same thread, the best case of any cache. The second form, --hold 10, has
// ten live objects that are freed together.
// Source: Fischer 2018.
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"iterations", 1'000'000, 1, 1'000'000'000'000, true, "1,000,000 a thread",
     "objects that each thread allocates"},
    {"max", 1024, 1, 1 << 30, false, "64 to 32,768", "the largest size; the least is 1"},
    {"hold", 1, 1, 4096, false, "1, and 10 in the second form",
     "objects that live at a time, freed together in the order of allocation"},
};
const std::uint64_t& iterations = parameters[0].value;
const std::uint64_t& largest = parameters[1].value;
const std::uint64_t& hold = parameters[2].value;

void work(Run& run, unsigned thread) {
    Random random(run.seed(), thread);
    void** const held = mapArray<void*>(hold);
    for (std::uint64_t done = 0; done < iterations;) {
        const std::uint64_t many = iterations - done < hold ? iterations - done : hold;
        for (std::uint64_t each = 0; each < many; ++each) {
            held[each] = allocate(random.between(1, largest));
        }
        for (std::uint64_t each = 0; each < many; ++each) {
            release(held[each]);
        }
        done += many;
    }
    run.count(2 * iterations);
}

} // namespace

int main(int argc, char** argv) {
    Description loop{
        "loop",
        "allocate an object of random size, free it at once; or ten, freed together",
        "--scale 1, --max 64 to 32768, --threads 1 to twice the processors (Fischer 2018)",
        2,
        Contents::Observers,
        parameters,
        std::size(parameters)};
    return runWorkload(loop, argc, argv,
                       [](Run& run) { run.parallel([&](unsigned thread) { work(run, thread); }); });
}
