// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// t-test1: each thread has a number of bins, half of them filled at the start. In each turn it
// empties up to 30 random bins and fills up to 30 others with objects of up to 10,000 bytes. It
// fills mostly by malloc, sometimes by realloc, calloc or memalign. After a number of turns it
// empties all bins and ends, and another thread starts, until the total is reached.
// Source: Gloger's test of ptmalloc.
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"total", 40, 1, 1'000'000'000, true, "10 to 200",
     "threads in all, --threads of them at a time"},
    {"actions", 10'000, 1, 1'000'000'000'000, false, "10,000",
     "bins that a thread empties or fills"},
    {"size", 10'000, 1, 1 << 30, false, "10,000", "the largest size"},
    {"room", 1U << 26U, 1, std::uint64_t{1} << 40U, false, "67,108,864",
     "bytes that all bins of all threads could hold: there are room/(size·threads) in each"},
};
const std::uint64_t& total = parameters[0].value;
const std::uint64_t& actions = parameters[1].value;
const std::uint64_t& largest = parameters[2].value;
const std::uint64_t& room = parameters[3].value;

constexpr std::uint64_t most = 30; ///< bins of a turn
constexpr std::uint64_t largestMoved =
    2000; ///< larger ones are not reallocated, because that would mostly measure copying

struct Bin {
    void* object;
    std::size_t size;
};

std::uint64_t empty(Bin& bin) {
    if (bin.object == nullptr) {
        return 0;
    }
    release(bin.object);
    bin.object = nullptr;
    return 1;
}

std::uint64_t fill(Bin& bin, Random& random) {
    const std::size_t size = random.between(1, largest);
    const std::uint64_t chance = random.below(1024);
    std::uint64_t operations = 1;
    if (chance >= 20 && chance < 100 && bin.object != nullptr && bin.size < largestMoved) {
        bin.object = reallocate(bin.object, size);
    } else {
        operations += empty(bin);
        bin.object = chance < 4    ? allocateAligned(std::size_t{8} << random.below(8), size)
                     : chance < 20 ? allocateZeroed(1, size)
                                   : allocate(size);
    }
    bin.size = size;
    use(bin.object, size);
    return operations;
}

std::uint64_t live(Bin* bins, std::uint64_t count, Random random) {
    std::uint64_t operations = 0;
    for (std::uint64_t at = 0; at < count; ++at) {
        operations += random.below(2) == 0 ? fill(bins[at], random) : 0;
    }
    for (std::uint64_t done = 0; done < actions;) {
        const std::uint64_t emptied = random.below(most);
        for (std::uint64_t each = 0; each < emptied; ++each) {
            operations += empty(bins[random.below(count)]);
        }
        const std::uint64_t filled = random.below(most);
        for (std::uint64_t each = 0; each < filled; ++each) {
            operations += fill(bins[random.below(count)], random);
        }
        done += emptied + filled;
    }
    for (std::uint64_t at = 0; at < count; ++at) {
        operations += empty(bins[at]);
    }
    return operations;
}

void body(Run& run) {
    const std::uint64_t fitting = room / (largest * run.threads());
    const std::uint64_t count = fitting < 4 ? 4 : fitting;
    std::atomic<std::uint64_t> started{0};
    run.parallel([&](unsigned thread) {
        Bin* const bins = mapArray<Bin>(count);
        // The first thread of a line is this one, so that all start at once.
        for (std::uint64_t number = started.fetch_add(1); number < total || number < run.threads();
             number = started.fetch_add(1)) {
            const auto life = [&] { run.count(live(bins, count, Random(run.seed(), number))); };
            if (number < run.threads()) {
                life();
            } else {
                inThread(thread, run.threads(), life);
            }
        }
    });
}

} // namespace

int main(int argc, char** argv) {
    Description description{
        "t-test1",
        "threads empty and fill bins by malloc, realloc, calloc and memalign",
        "--total 10 to 200 (Gloger; Fischer 2018 names it as the origin of loop)",
        2,
        Contents::Observers,
        parameters,
        std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
