// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// shbench: a stress test with many sizes. Each thread has a share of the slots. It repeatedly
// visits them in a random order, frees about one block in seven, and then fills empty slots with
// blocks of random size. Nearly all blocks of the peak are still live at the end.
// Source: the description of MicroQuill's SmartHeap benchmark in Berger 2002. The original program
// is not free and not used.
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"blocks", 5'000'000, 1, 1'000'000'000'000, true, "50,000,000",
     "blocks, of all threads together"},
    {"slots", 10'000, 1, 1'000'000'000, false, "about 10,000 (550 KB live)",
     "blocks live at a time, of all threads together"},
    {"least", 8, 0, 1 << 30, false, "8", "the least size"},
    {"most", 100, 0, 1 << 30, false, "100", "the largest size"},
};
const std::uint64_t& blocks = parameters[0].value;
const std::uint64_t& slots = parameters[1].value;
const std::uint64_t& least = parameters[2].value;
const std::uint64_t& most = parameters[3].value;

std::uint64_t shareOf(std::uint64_t all, const Run& run, unsigned thread) {
    return all / run.threads() + (thread < all % run.threads() ? 1U : 0U);
}

/// A step that visits each of `count` slots once: coprime to the count.
std::uint64_t randomStep(std::uint64_t count, Random& random) {
    for (;;) {
        const std::uint64_t step = random.between(1, count);
        std::uint64_t one = count;
        for (std::uint64_t other = step; other != 0;) {
            const std::uint64_t rest = one % other;
            one = other;
            other = rest;
        }
        if (one == 1) {
            return step;
        }
    }
}

void work(Run& run, unsigned thread) {
    Random random(run.seed(), thread);
    const std::uint64_t mine = shareOf(blocks, run, thread);
    const std::uint64_t fair = shareOf(slots, run, thread);
    const std::uint64_t count = fair == 0 ? 1 : fair;
    void** const slot = mapArray<void*>(count);
    std::uint64_t freed = 0;
    for (std::uint64_t done = 0; done < mine;) {
        const std::uint64_t step = randomStep(count, random);
        std::uint64_t at = random.below(count);
        for (std::uint64_t each = 0; each < count; ++each, at = (at + step) % count) {
            // 470 of 550 KB stay: 0.855. At least one is freed, so that there is always a slot to
            // fill.
            if (slot[at] != nullptr && (random.below(1000) >= 855 || count == 1)) {
                release(slot[at]);
                slot[at] = nullptr;
                ++freed;
            }
        }
        for (std::uint64_t each = 0; each < count && done < mine;
             ++each, at = (at + step) % count) {
            if (slot[at] == nullptr) {
                const std::size_t size = random.between(least, most);
                slot[at] = allocate(size);
                use(slot[at], size);
                ++done;
            }
        }
    }
    for (std::uint64_t at = 0; at < count; ++at) {
        release(slot[at]); // also of null
    }
    run.count(mine + freed + count);
}

void body(Run& run) {
    if (least > most) {
        usageError("--least is more than --most", parameters[2].name);
    }
    run.parallel([&](unsigned thread) { work(run, thread); });
}

} // namespace

int main(int argc, char** argv) {
    Description description{
        "shbench",
        "each thread frees and allocates blocks of 8 to 100 bytes in random order",
        "--scale 10 (Berger 2002, tables 7.2 and 7.3)",
        2,
        Contents::Observers,
        parameters,
        std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
