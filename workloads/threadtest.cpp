// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// threadtest: each of t threads repeatedly allocates objects/t small objects and then frees them
// all. Threads share nothing, so only the allocator can limit the scaling. The array of pointers is
// the program's own memory.
// Source: Berger et al. 2000.
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"objects", 100'000, 1, 1'000'000'000, false, "100,000",
     "objects live at a time, of all threads together"},
    {"rounds", 100, 1, 1'000'000'000, true, "100 (10,000,000 objects in all)",
     "how often they are allocated and freed"},
    {"size", 8, 0, 1 << 30, false, "8", "bytes of an object"},
};
const std::uint64_t& objects = parameters[0].value;
const std::uint64_t& rounds = parameters[1].value;
const std::uint64_t& size = parameters[2].value;

void work(Run& run, unsigned thread) {
    const std::uint64_t mine =
        objects / run.threads() + (thread < objects % run.threads() ? 1U : 0U);
    void** const held = mapArray<void*>(mine);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        for (std::uint64_t each = 0; each < mine; ++each) {
            held[each] = allocate(size);
            use(held[each], size);
        }
        for (std::uint64_t each = 0; each < mine; ++each) {
            release(held[each]);
        }
    }
    run.count(2 * mine * rounds);
}

} // namespace

int main(int argc, char** argv) {
    Description threadtest{
        "threadtest",
        "each thread allocates its share of 100,000 small objects, then frees them",
        "--scale 1 (Berger 2002, table 7.3)",
        2,
        Contents::Observers,
        parameters,
        std::size(parameters)};
    return runWorkload(threadtest, argc, argv,
                       [](Run& run) { run.parallel([&](unsigned thread) { work(run, thread); }); });
}
