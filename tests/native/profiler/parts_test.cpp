// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the pass is made of: the table of live blocks, the scales, steps that fold, JSON text.
#include <bit>
#include <gtest/gtest.h>
#include <map>
#include <random>

#include "profiler/folding_steps.hpp"
#include "profiler/json.hpp"
#include "profiler/live_blocks.hpp"
#include "profiler/scales.hpp"

namespace heapwright::profiler {
namespace {

TEST(LiveBlocksTable, AgreesWithAMap) {
    std::mt19937_64 random(11);
    LiveBlocks table;
    std::map<std::uint64_t, std::uint64_t> model;
    for (int step = 0; step < 200'000; ++step) {
        const std::uint64_t most = step < 100'000 ? 20'000 : 500;
        const std::uint64_t address = 16 * (1 + random() % most);
        const std::optional<Block> found = table.find(address);
        ASSERT_EQ(found.has_value(), model.contains(address));
        if (!found) {
            Block block;
            block.address = address;
            block.size = model[address] = random() >> random() % 64;
            block.slack = static_cast<std::uint32_t>(random());
            table.insert(block);
            continue;
        }
        ASSERT_EQ(found->size, model[address]);
        if (random() % 4 == 0) {
            model[address] = random() >> random() % 64;
            table.resize(address, model[address], 1);
        } else {
            table.remove(address);
            model.erase(address);
        }
    }
    std::size_t visited = 0;
    table.forEach([&](const Block& block) { visited += model.at(block.address) == block.size; });
    EXPECT_EQ(visited, model.size());
    EXPECT_EQ(table.count(), model.size());
}

template <typename Scale>
void everyNumberIsWithinItsStep(std::uint64_t number) {
    const std::size_t step = Scale::step(number);
    ASSERT_LT(step, Scale::steps);
    EXPECT_LE(number, Scale::high(step));
    EXPECT_TRUE(step == 0 || number > Scale::low(step)) << number;
}

TEST(Scale, EveryNumberIsWithinItsStep) {
    for (std::uint64_t number = 0; number < 3000; ++number) {
        everyNumberIsWithinItsStep<SizeScale>(number);
        everyNumberIsWithinItsStep<TimeScale>(number);
    }
    for (unsigned bit = 11; bit < 64; ++bit)
        for (const std::uint64_t by : {~std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1}}) {
            everyNumberIsWithinItsStep<SizeScale>((std::uint64_t{1} << bit) + by);
            everyNumberIsWithinItsStep<TimeScale>((std::uint64_t{1} << bit) + by);
        }
    for (std::uint64_t decade = 100; decade < 1'000'000'000'000'000; decade *= 10)
        for (const std::uint64_t limit : {decade, 2 * decade, 5 * decade}) {
            EXPECT_EQ(TimeScale::high(TimeScale::step(limit)), limit);
            EXPECT_EQ(TimeScale::low(TimeScale::step(limit + 1)), limit);
        }
    everyNumberIsWithinItsStep<SizeScale>(UINT64_MAX);
    everyNumberIsWithinItsStep<TimeScale>(UINT64_MAX);
}

TEST(Scale, TheQuickStepIsTheStep) {
    const auto compare = [](std::uint64_t number) {
        EXPECT_EQ(TimeScale::quickStep(number), TimeScale::step(number)) << number;
        EXPECT_EQ(quickWidth(number | 1), std::bit_width(number | 1)) << number;
    };
    for (std::uint64_t number = 0; number < 3000; ++number)
        compare(number);
    for (unsigned bit = 11; bit < 53; ++bit)
        for (const std::uint64_t by : {~std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1}})
            compare((std::uint64_t{1} << bit) + by);
    for (std::uint64_t decade = 100; decade <= 1'000'000'000; decade *= 10)
        for (const std::uint64_t times : {1U, 2U, 5U})
            for (const std::uint64_t by : {0U, 1U})
                compare(times * decade + by);
}

struct Sum {
    std::uint64_t count = 0;
    void absorb(const Sum& next) { count += next.count; }
};

TEST(FoldingStepsSum, NothingIsLostWhenTheyFold) {
    for (const std::size_t most : {2U, 7U, 10U}) {
        FoldingSteps<Sum> steps(3, most);
        for (std::uint64_t at = 0; at < 1000; ++at)
            ++steps.at(at).count;
        ++steps.at(5).count; // an early one, late
        EXPECT_LE(steps.cells().size(), most);
        std::uint64_t place = 0;
        std::uint64_t sum = 0;
        for (const Sum& cell : steps.cells()) {
            const std::uint64_t width = std::min(steps.step(), 1000 - place);
            EXPECT_EQ(cell.count, width + (place == 0 ? 1 : 0));
            sum += cell.count;
            place += width;
        }
        EXPECT_EQ(sum, 1001U);
    }
}

TEST(JsonText, IsEscapedAndAlwaysUnicode) {
    Json json;
    json.beginObject().field("a\"\\\n\x7F", 1U).key("b").beginArray();
    json.value(0.5).value(1e300).value(1.0 / 0.0).null().value(true).endArray();
    json.field("c", "\xC3\xA9\xFF\xE2\x82\xAC\xE2\x82\xED\xA0\x80").endObject();
    EXPECT_EQ(json.text(),
              "{\"a\\\"\\\\\\u000a\\u007f\":1,\"b\":[0.5,1e+300,null,null,true],"
              "\"c\":\"\xC3\xA9\\ufffd\xE2\x82\xAC\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"}");
}

} // namespace
} // namespace heapwright::profiler
