// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// phong: each thread allocates its share of the objects, with sizes that are mostly small. From the
// 1,000th object on, it visits a random interval of its objects after each allocation. It frees
// half of the live ones there and reallocates a quarter of the rest. The new size is twice the old
// one, or a quarter if it is larger than the largest. Lifetimes are thus short and long, and sizes
// change.
// Source: Kiem-Phong Vo's test of vmalloc.
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"objects", 40'000, 1, 1'000'000'000, true, "1,000,000", "objects, of all threads together"},
    {"least", 10, 1, 1 << 30, false, "10", "the least size"},
    {"most", 1024, 1, 1 << 30, false, "1,024", "the largest size"},
};
const std::uint64_t& objects = parameters[0].value;
const std::uint64_t& least = parameters[1].value;
const std::uint64_t& most = parameters[2].value;
constexpr std::uint64_t quiet = 1000; ///< objects before the first visit

struct Kept {
    void* object;
    std::size_t size;
};

/// A size that is more likely the smaller it is. A draw is accepted with the probability of the
/// share of the range above it; otherwise the next draw is from below it.
std::size_t randomSize(Random& random) {
    std::uint64_t range = most - least + 1;
    for (;;) {
        const std::uint64_t size = random.below(range);
        if (size == 0 || random.below(100) >= 100 * size / range) {
            return size + least;
        }
        range = size;
    }
}

/// Frees half of the live objects in the interval and resizes a quarter of the rest.
std::uint64_t lookAt(Kept* kept, std::uint64_t first, std::uint64_t last, Random& random) {
    std::uint64_t operations = 0;
    for (Kept* each = kept + first; each <= kept + last; ++each) {
        if (each->object == nullptr) {
            continue;
        }
        if (random.below(2) == 0) {
            release(each->object);
            each->object = nullptr;
            ++operations;
        } else if (random.below(4) == 0) {
            each->size = each->size > most ? each->size / 4 : 2 * each->size;
            each->object = reallocate(each->object, each->size);
            use(each->object, each->size);
            ++operations;
        }
    }
    return operations;
}

void work(Run& run, unsigned thread) {
    Random random(run.seed(), thread);
    const std::uint64_t mine =
        objects / run.threads() + (thread < objects % run.threads() ? 1U : 0U);
    Kept* const kept = mapArray<Kept>(mine);
    std::uint64_t operations = mine;
    for (std::uint64_t at = 0; at < mine; ++at) {
        kept[at].size = randomSize(random);
        kept[at].object = allocate(kept[at].size);
        use(kept[at].object, kept[at].size);
        if (at >= quiet) {
            const std::uint64_t one = random.below(at);
            const std::uint64_t other = random.below(at);
            operations +=
                lookAt(kept, one < other ? one : other, one < other ? other : one, random);
        }
    }
    for (std::uint64_t at = 0; at < mine; ++at) {
        release(kept[at].object); // also of null
    }
    run.count(operations + mine);
}

void body(Run& run) {
    if (least > most) {
        usageError("--least is more than --most", parameters[1].name);
    }
    run.parallel([&](unsigned thread) { work(run, thread); });
}

} // namespace

int main(int argc, char** argv) {
    Description description{
        "phong",
        "malloc, free and realloc of sizes that favour the small, in random order",
        "--objects 1000000 --threads 256 (Vo; its time grows with the square of "
        "objects a thread)",
        2,
        Contents::Observers,
        parameters,
        std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
