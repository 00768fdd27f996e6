// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/map/object_record.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace heapwright::testing {
namespace {

using Record = ObjectRecord<CountingHeap>;

/// Addresses that nothing may be read from.
void* objectNumber(std::size_t number) {
    return pointerTo(0x1000 + 16 * number);
}

class ObjectRecordTest : public ::testing::Test {
protected:
    void SetUp() override { Ledger::begin(); }
    void TearDown() override {
        record.popAll(memory, [](void*) {});
        EXPECT_TRUE(Ledger::the().live.empty());
        EXPECT_EQ(Ledger::the().wrongFrees, 0U);
    }

    std::vector<void*> popped() {
        std::vector<void*> objects;
        record.popAll(memory, [&](void* object) { objects.push_back(object); });
        return objects;
    }

    CountingHeap memory;
    Record record;
};

TEST_F(ObjectRecordTest, ReturnsTheNewestFirst) {
    std::vector<void*> added;
    for (std::size_t i = 0; i < 1000; ++i) {
        added.push_back(objectNumber(i));
        ASSERT_TRUE(record.add(added.back(), memory));
    }
    std::reverse(added.begin(), added.end());
    EXPECT_EQ(popped(), added);
    EXPECT_TRUE(record.empty());
    EXPECT_TRUE(popped().empty());
}

TEST_F(ObjectRecordTest, RemovesFromTheEndWithoutAnIndex) {
    for (std::size_t i = 0; i < 20; ++i) {
        ASSERT_TRUE(record.add(objectNumber(i), memory));
    }
    const std::size_t asked = Ledger::the().requests;
    for (std::size_t i = 20; i-- > 0;) {
        EXPECT_TRUE(record.remove(objectNumber(i), memory));
    }
    EXPECT_TRUE(record.empty());
    EXPECT_EQ(Ledger::the().requests, asked);
}

TEST_F(ObjectRecordTest, RemovesNoUnknownObject) {
    EXPECT_FALSE(record.remove(objectNumber(1), memory));
    for (std::size_t i = 0; i < 100; ++i) {
        ASSERT_TRUE(record.add(objectNumber(i), memory));
    }
    EXPECT_FALSE(record.remove(objectNumber(100), memory));
    EXPECT_TRUE(record.remove(objectNumber(7), memory));
    EXPECT_FALSE(record.remove(objectNumber(7), memory));
    ASSERT_TRUE(record.add(objectNumber(7), memory));
    EXPECT_TRUE(record.remove(objectNumber(7), memory));
}

TEST_F(ObjectRecordTest, AgreesWithAListOverRandomHistories) {
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
        std::mt19937 random(seed);
        std::vector<void*> model;
        std::size_t made = 0;
        for (int step = 0; step < 20'000; ++step) {
            const bool growing = (step / 4000) % 2 == 0;
            if (model.empty() || random() % 8 < (growing ? 5U : 2U)) {
                model.push_back(objectNumber(made++));
                ASSERT_TRUE(record.add(model.back(), memory));
            } else {
                const std::size_t at = random() % model.size();
                ASSERT_TRUE(record.remove(model[at], memory));
                ASSERT_FALSE(record.remove(model[at], memory));
                model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
            }
            ASSERT_EQ(record.empty(), model.empty());
        }
        std::reverse(model.begin(), model.end());
        EXPECT_EQ(popped(), model);
    }
}

TEST_F(ObjectRecordTest, KeepsNoMoreMemoryThanItsObjectsNeed) {
    for (std::size_t i = 0; i < 200'000; ++i) {
        ASSERT_TRUE(record.add(objectNumber(i), memory));
        if (i >= 100) {
            ASSERT_TRUE(record.remove(objectNumber(i - 100), memory)); // the oldest of a hundred
        }
    }
    std::size_t bytes = 0;
    for (const auto& [block, size] : Ledger::the().live) {
        bytes += size;
    }
    EXPECT_LE(bytes, 16 * KiB);
}

TEST_F(ObjectRecordTest, WithoutMemoryAnAddChangesNothingAndARemoveStillWorks) {
    for (std::size_t i = 0; i < 32; ++i) {
        ASSERT_TRUE(record.add(objectNumber(i), memory));
    }
    Ledger::the().refuse = Ledger::all;
    EXPECT_FALSE(record.add(objectNumber(32), memory));
    EXPECT_FALSE(record.remove(objectNumber(32), memory));
    EXPECT_TRUE(record.remove(objectNumber(3), memory)); // without an index
    Ledger::the().refuse = 0;
    EXPECT_TRUE(record.add(objectNumber(32), memory));
    EXPECT_TRUE(record.remove(objectNumber(5), memory));
    EXPECT_EQ(popped().size(), 31U);
}

TEST_F(ObjectRecordTest, AnIndexThatCannotGrowIsMadeLater) {
    for (std::size_t i = 0; i < 32; ++i) {
        ASSERT_TRUE(record.add(objectNumber(i), memory));
    }
    ASSERT_TRUE(record.remove(objectNumber(3), memory)); // now there is one
    Ledger::the().refuse = Ledger::the().requests + 2;   // the array grows, the index does not
    ASSERT_TRUE(record.add(objectNumber(32), memory));
    for (std::size_t i = 4; i < 20; ++i) {
        EXPECT_TRUE(record.remove(objectNumber(i), memory));
    }
    EXPECT_EQ(popped().size(), 16U);
}

TEST_F(ObjectRecordTest, OneObjectTakesThePlaceOfAnother) {
    for (std::size_t i = 0; i < 40; ++i) {
        ASSERT_TRUE(record.add(objectNumber(i), memory));
    }
    EXPECT_EQ(record.placeOf(objectNumber(99), memory), Record::nowhere);
    for (const std::size_t number : {3U, 38U}) {
        record.replace(record.placeOf(objectNumber(number), memory), objectNumber(100 + number));
        EXPECT_EQ(record.placeOf(objectNumber(number), memory), Record::nowhere);
        EXPECT_EQ(record.placeOf(objectNumber(100 + number), memory), number);
    }
    EXPECT_TRUE(record.remove(objectNumber(103), memory));
    const std::vector<void*> objects = popped();
    EXPECT_EQ(objects.size(), 39U);
    EXPECT_EQ(objects[1], objectNumber(138));
}

TEST_F(ObjectRecordTest, AnyVisitsTheNewestObjectFirst) {
    for (std::size_t i = 0; i < 10; ++i) {
        ASSERT_TRUE(record.add(objectNumber(i), memory));
    }
    ASSERT_TRUE(record.remove(objectNumber(8), memory));
    std::vector<void*> asked;
    EXPECT_TRUE(record.any([&](void* object) {
        asked.push_back(object);
        return object == objectNumber(7);
    }));
    EXPECT_EQ(asked, (std::vector<void*>{objectNumber(9), objectNumber(7)}));
    EXPECT_FALSE(record.any([](void*) { return false; }));
}

} // namespace
} // namespace heapwright::testing
