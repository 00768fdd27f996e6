// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/map/bit_runs.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <random>

namespace heapwright::testing {
namespace {

constexpr std::size_t size = 256;
using Runs = BitRuns<size>;
using Model = std::bitset<size>;

/// The best fit by looking at every place; `size` if there is none.
Runs::Fit slowFit(Model model, std::size_t count, std::size_t align, std::size_t phase) {
    Runs::Fit best;
    std::size_t length = size + 1;
    for (std::size_t first = 0; first < size;) {
        std::size_t end = first;
        while (end < size && model[end]) {
            ++end;
        }
        std::size_t place = first;
        while (place < end && place % align != phase) {
            ++place;
        }
        if (end > first && place + count <= end && end - first < length) {
            length = end - first;
            best.first = place;
        }
        first = end + 1;
    }
    for (std::size_t i = 0; best.first != size && i < count; ++i) {
        model.reset(best.first + i);
    }
    for (std::size_t i = 0, run = 0; i < size; ++i) {
        run = model[i] ? run + 1 : 0;
        best.rest = std::max(best.rest, run);
    }
    return best;
}

TEST(BitRuns, AgreesWithBitsOneByOne) {
    std::mt19937 random(1);
    Runs runs;
    Model model;
    for (int step = 0; step < 4000; ++step) {
        const std::size_t first = random() % size;
        const std::size_t count = random() % std::min<std::size_t>(size - first + 1, 90);
        const bool set = random() % 2 == 0;
        set ? runs.set(first, count) : runs.reset(first, count);
        for (std::size_t i = first; i < first + count; ++i) {
            model[i] = set;
        }
        const std::size_t from = random() % size;
        std::size_t next = from;
        while (next < size && !model[next]) {
            ++next;
        }
        ASSERT_EQ(runs.next(from), next);
        std::size_t gap = from;
        while (gap < size && model[gap]) {
            ++gap;
        }
        ASSERT_EQ(runs.nextGap(from), gap);
        std::size_t start = from;
        while (start > 0 && model[start - 1]) {
            --start;
        }
        ASSERT_EQ(runs.startOfRun(from), start);
        ASSERT_EQ(runs.has(from), model[from]);
        std::size_t members = 0;
        for (std::size_t i = first; i < first + count; ++i) {
            members += model[i] ? 1U : 0U;
        }
        ASSERT_EQ(runs.count(first, count), members);

        const std::size_t longest = runs.longest();
        ASSERT_EQ(longest, slowFit(model, size, 1, 0).rest);
        const std::size_t align = std::size_t{1} << random() % 4;
        const std::size_t phase = random() % align;
        const std::size_t wanted = 1 + random() % 12;
        const Runs::Fit fit = runs.bestFit(wanted, align, phase, longest);
        const Runs::Fit expected = slowFit(model, wanted, align, phase);
        ASSERT_EQ(fit.first, expected.first);
        if (fit.first != size) {
            ASSERT_EQ(fit.rest, expected.rest) << step;
        }
    }
}

TEST(BitRuns, RunsOverTheEndsOfWords) {
    Runs runs;
    EXPECT_EQ(runs.next(0), size);
    EXPECT_EQ(runs.startOfRun(size), size);
    runs.set(60, 140);
    EXPECT_EQ(runs.startOfRun(200), 60U);
    EXPECT_EQ(runs.nextGap(60), 200U);
    runs.set(0, size);
    EXPECT_EQ(runs.startOfRun(size), 0U);
    EXPECT_EQ(runs.nextGap(0), size);
    EXPECT_EQ(runs.longest(), size);
    EXPECT_EQ(runs.bestFit(size, 1, 0, size).first, 0U);
    EXPECT_EQ(runs.bestFit(size, 1, 0, size).rest, 0U);
}

} // namespace
} // namespace heapwright::testing
