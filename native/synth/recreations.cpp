// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Descriptions: Fischer 2018, section 3.2.2.2, and the numbers of threads in its figures 4.8
// to 4.10. A thread's turn comes at random; what was handed to it, it frees first. The first thread
// starts the others, for each of which the C library asks for one zeroed table.
#include "synth/recreations.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace heapwright::synth {

namespace {

using trace::Routine;

constexpr std::uint64_t threadTable = 288; ///< what glibc's pthread_create asks calloc for

void startThreads(Output& output) {
    for (std::uint32_t thread = 1; thread < output.threads(); ++thread)
        output.allocate(0, {Routine::calloc, threadTable});
}

/// Slots for the blocks of one thread. A block put into a place that is taken ends the one
/// there.
class Shelf {
public:
    explicit Shelf(std::size_t places) : blocks_(places) {}

    std::size_t places() const { return blocks_.size(); }
    bool taken(std::size_t at) const { return blocks_[at].address != 0; }
    Block& operator[](std::size_t at) { return blocks_[at]; }

    void empty(Output& output, std::size_t at) {
        if (taken(at))
            output.free(blocks_[at]);
        blocks_[at] = {};
    }

    void emptyAll(Output& output) {
        for (std::size_t at = 0; at < places(); ++at)
            empty(output, at);
    }

private:
    std::vector<Block> blocks_;
};

/// What threads have been handed and not yet freed.
class Inboxes {
public:
    explicit Inboxes(const Output& output) : waiting_(output.threads()) {}

    /// To another thread than the one that has it, but not to the first.
    void hand(Block block, Random& random) {
        const auto workers = static_cast<std::uint32_t>(waiting_.size()) - 1;
        const auto away = static_cast<std::uint32_t>(1 + random.below(workers - 1));
        block.ender = 1 + (block.ender - 1 + away) % workers;
        waiting_[block.ender].push_back(block);
    }

    void free(Output& output, std::uint32_t thread) {
        for (const Block& block : waiting_[thread])
            output.free(block);
        waiting_[thread].clear();
    }

    void freeAll(Output& output) {
        for (std::uint32_t thread = 0; thread < waiting_.size(); ++thread)
            free(output, thread);
    }

private:
    std::vector<std::vector<Block>> waiting_;
};

std::uint32_t someWorker(const Output& output, Random& random) {
    return 1 + static_cast<std::uint32_t>(random.below(output.threads() - 1));
}

/// mt_test_one_alloc: a small block and a large one in turns; 70,000 and 500 of them are kept.
void oneAlloc(Output& output, Random& random, std::uint64_t events) {
    startThreads(output);
    Shelf small(70'000);
    Shelf large(500);
    const auto replace = [&](Shelf& shelf, std::uint64_t least, std::uint64_t most) {
        const std::size_t at = random.below(shelf.places());
        shelf.empty(output, at);
        shelf[at] = output.allocate(1, {Routine::malloc, random.between(least, most)});
    };
    while (output.events() < events) {
        replace(small, 257, 514);
        replace(large, 118'784, 126'976);
    }
    small.emptyAll(output);
    large.emptyAll(output);
}

/// dj: every thread allocates 80 bytes and frees them at once; one block in a thousand is handed
/// on.
void dj(Output& output, Random& random, std::uint64_t events) {
    constexpr std::uint64_t handedOneIn = 1000;
    startThreads(output);
    Inboxes inboxes(output);
    while (output.events() < events) {
        const std::uint32_t thread = someWorker(output, random);
        inboxes.free(output, thread);
        const Block block = output.allocate(thread, {Routine::malloc, 80});
        if (random.below(handedOneIn) == 0)
            inboxes.hand(block, random);
        else
            output.free(block);
    }
    inboxes.freeAll(output);
}

/// Any size up to 64 KiB, each doubling as likely as any other.
std::uint64_t wideSize(Random& random) {
    return static_cast<std::uint64_t>(std::exp2(random.real() * 16));
}

Block anyRoutine(Output& output, Random& random, std::uint32_t thread) {
    const std::uint64_t size = wideSize(random);
    switch (random.below(3)) {
    case 0:
        return output.allocate(thread, {Routine::malloc, size});
    case 1:
        return output.allocate(thread, {Routine::calloc, size});
    default:
        return output.allocate(thread,
                               {Routine::memalign, size, std::uint64_t{8} << random.below(8)});
    }
}

/// dj2: a random action on a random bin of the thread's: fill, make anew by realloc, empty, hand
/// on.
void dj2(Output& output, Random& random, std::uint64_t events) {
    constexpr std::size_t bins = 128;
    startThreads(output);
    Inboxes inboxes(output);
    std::vector<Shelf> shelves(output.threads(), Shelf(bins));
    while (output.events() < events) {
        const std::uint32_t thread = someWorker(output, random);
        inboxes.free(output, thread);
        Shelf& shelf = shelves[thread];
        const std::size_t at = random.below(bins);
        if (!shelf.taken(at)) {
            shelf[at] = anyRoutine(output, random, thread);
        } else if (random.below(4) == 0) {
            shelf[at] = output.reallocate(shelf[at], wideSize(random));
        } else if (random.below(4) == 0) {
            inboxes.hand(shelf[at], random);
            shelf[at] = {};
        } else {
            shelf.empty(output, at);
        }
    }
    inboxes.freeAll(output);
    for (Shelf& shelf : shelves)
        shelf.emptyAll(output);
}

/// steady: 100,000 blocks of 16 to 512 bytes; a random one is replaced, now and then by another
/// thread.
void steady(Output& output, Random& random, std::uint64_t events) {
    constexpr std::size_t live = 100'000;
    constexpr std::uint64_t handedOneIn = 20;
    Shelf shelf(live);
    while (output.events() < events) {
        const std::size_t at = random.below(live);
        const auto thread = static_cast<std::uint32_t>(at % output.threads());
        if (shelf.taken(at) && random.below(handedOneIn) == 0)
            shelf[at].ender = static_cast<std::uint32_t>(random.below(output.threads()));
        shelf.empty(output, at);
        shelf[at] = output.allocate(thread, {Routine::malloc, random.between(1, 32) * 16});
    }
    shelf.emptyAll(output);
}

constexpr Recreation all[] = {
    {"mt_test_one_alloc", "small and large blocks in turns, most of them kept", 2, 4'000'000,
     oneAlloc},
    {"dj", "200 threads free at once what they allocate, and hand on very little", 201, 8'000'000,
     dj},
    {"dj2", "random routines, sizes and hand-overs in 35 threads", 36, 4'000'000, dj2},
    {"steady", "100,000 blocks, replaced at random by four threads; no program's load", 4,
     10'000'000, steady},
};

} // namespace

std::span<const Recreation> recreations() {
    return all;
}

const Recreation* findRecreation(std::string_view name) {
    for (const Recreation& each : all) {
        if (each.name == name)
            return &each;
    }
    return nullptr;
}

} // namespace heapwright::synth
