// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Every pair of neighbours that the concepts allow works. It works over random histories, over a
// source that fails at each call in turn, and over sizes that no memory holds. It works through
// `clear` and to the end of its life. The pairs are known by their tables only, so all of this is
// compiled once.
#include <heaps/layers/pairs/pair.hpp>
#include <heaps/layers/pairs/pair_list.hpp>
#include <support/counting_heap.hpp>
#include <support/history.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace heapwright::testing {

void PrintTo(const Pair& pair, std::ostream* out);
void PrintTo(const Pair& pair, std::ostream* out) {
    *out << pair.over << " over " << pair.under;
}

namespace {

class PairOfHeaps : public ::testing::TestWithParam<Pair> {
protected:
    void SetUp() override { begin(); }

    /// The rest of a unique heap may be closed to all access. A leak check at the end of the
    /// process reads all of it.
    static void TearDownTestSuite() {
        for (const Pair& pair : allPairs()) {
            if (pair.verbs->unique) {
                const Life life(*pair.verbs);
                if (pair.verbs->flush != nullptr) {
                    pair.verbs->flush(life.heap().heap);
                }
                if (pair.verbs->clear != nullptr) {
                    pair.verbs->clear(life.heap().heap);
                }
            }
        }
    }

    static const HeapVerbs& verbs() { return *GetParam().verbs; }

    /// A unique heap lives on from test to test, and so does what it holds.
    static void begin(std::size_t refuse = 0) {
        if (verbs().unique) {
            Ledger::the().requests = 0;
            Ledger::the().refuse = refuse;
        } else {
            Ledger::begin(refuse);
        }
    }

    static HistoryShape shape(std::size_t steps) {
        HistoryShape shape{steps, 40, 1, 4000, true};
        if (verbs().uniform) {
            shape.smallest = shape.largest = usual;
        }
        return shape;
    }

    /// What was taken has come back, each block once.
    static void expectNothingLeft() {
        if (!verbs().unique) {
            EXPECT_EQ(Ledger::the().outstanding(), 0U);
            EXPECT_EQ(Ledger::the().wrongFrees, 0U);
        }
    }

    /// As many objects as the heap gives, up to `count`, each filled.
    static std::vector<void*> take(AnyHeap heap, std::size_t count) {
        std::vector<void*> objects;
        for (std::size_t i = 0; i < count; ++i) {
            void* const object = heap.malloc(usual);
            if (object != nullptr) {
                std::memset(object, static_cast<int>(i), usual);
                objects.push_back(object);
            }
        }
        return objects;
    }

    /// The newest first, as any heap takes them.
    static void giveBack(AnyHeap heap, const std::vector<void*>& objects) {
        for (auto each = objects.rbegin(); each != objects.rend(); ++each) {
            heap.free(*each);
        }
    }

    struct Stretch {
        unsigned char* start;
        std::size_t size;
    };

    /// All that may be used of an object, or of a large one its two ends.
    static std::array<Stretch, 2> ends(AnyHeap heap, void* object) {
        constexpr std::size_t enough = 4096;
        const std::size_t size = heap.getSize(object);
        auto* const start = static_cast<unsigned char*>(object);
        if (size <= 2 * enough) {
            return {Stretch{start, size}, Stretch{start, 0}};
        }
        return {Stretch{start, enough}, Stretch{start + size - enough, enough}};
    }

    static constexpr std::size_t usual = 48;
};

TEST_P(PairOfHeaps, AgreesWithTheModelOverRandomHistories) {
    for (const std::uint32_t seed : {1U, 20261122U}) {
        {
            const Life life(verbs());
            runHistoryOf(life.heap(), seed, shape(600));
        }
        expectNothingLeft();
    }
}

TEST_P(PairOfHeaps, ReturnsNullIfTheSourceDoes) {
    for (std::size_t refuse = 1; refuse <= 20; ++refuse) {
        SCOPED_TRACE(::testing::Message() << "request " << refuse << " refused");
        begin(refuse);
        {
            const Life life(verbs());
            runHistoryOf(life.heap(), 7, shape(120));
        }
        expectNothingLeft();
        if (Ledger::the().requests < refuse) {
            break; // it was never asked so often
        }
    }
}

TEST_P(PairOfHeaps, WorksAgainAfterTheSourceHadNothing) {
    {
        const Life life(verbs());
        begin(Ledger::all);
        giveBack(life.heap(), take(life.heap(), 3));
        begin();
        runHistoryOf(life.heap(), 11, shape(100));
    }
    expectNothingLeft();
}

TEST_P(PairOfHeaps, RefusesSizesBeyondAnyMemory) {
    if (verbs().uniform) {
        return; // one size only
    }
    {
        const Life life(verbs());
        for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX - 15, SIZE_MAX - 4096,
                                       SIZE_MAX / 2 + 1, SIZE_MAX / 2 - 64}) {
            EXPECT_EQ(life.heap().malloc(size), nullptr) << size;
            if (verbs().memalign != nullptr) {
                EXPECT_EQ(verbs().memalign(life.heap().heap, 4096, size), nullptr) << size;
            }
            if (verbs().zalloc != nullptr) {
                EXPECT_EQ(verbs().zalloc(life.heap().heap, size), nullptr) << size;
            }
        }
        runHistoryOf(life.heap(), 13, shape(100));
    }
    expectNothingLeft();
}

TEST_P(PairOfHeaps, WritesWithinTheCapacityChangeNoOtherObject) {
    if (verbs().getSize == nullptr) {
        return; // sizes are not known
    }
    {
        const Life life(verbs());
        std::vector<void*> objects;
        for (std::size_t i = 0; i < 30; ++i) {
            const std::size_t size = verbs().uniform ? usual : 1 + i * 97;
            if (void* const object = life.heap().malloc(size)) {
                const auto fill = static_cast<unsigned char>(objects.size());
                for (const Stretch part : ends(life.heap(), object)) {
                    std::memset(part.start, fill, part.size);
                }
                objects.push_back(object);
            }
        }
        for (std::size_t i = 0; i < objects.size(); ++i) {
            for (const Stretch part : ends(life.heap(), objects[i])) {
                const std::vector<unsigned char> expected(part.size, static_cast<unsigned char>(i));
                ASSERT_TRUE(std::equal(expected.begin(), expected.end(), part.start))
                    << "object " << i;
            }
        }
        giveBack(life.heap(), objects);
    }
    expectNothingLeft();
}

TEST_P(PairOfHeaps, HonoursEveryAlignment) {
    if (verbs().memalign == nullptr) {
        return; // no memalign
    }
    {
        const Life life(verbs());
        for (std::size_t align = 16; align <= 64 * KiB; align *= 2) {
            std::vector<void*> objects;
            for (const std::size_t size : {1U, 24U, 3000U}) {
                void* const object =
                    verbs().memalign(life.heap().heap, align, verbs().uniform ? usual : size);
                if (object != nullptr) {
                    EXPECT_EQ(addressOf(object) % align, 0U);
                    std::memset(object, 0x11, verbs().uniform ? usual : size);
                    objects.push_back(object);
                }
            }
            giveBack(life.heap(), objects);
        }
    }
    expectNothingLeft();
}

TEST_P(PairOfHeaps, StartsAfreshAfterClear) {
    if (verbs().clear == nullptr) {
        return; // no clear
    }
    {
        const Life life(verbs());
        for (int round = 0; round < 3; ++round) {
            take(life.heap(), 40);
            verbs().clear(life.heap().heap);
            if (GetParam().clears) { // else the heap below may keep what it gets back
                expectNothingLeft();
            }
        }
        runHistoryOf(life.heap(), 5, shape(200));
    }
    expectNothingLeft();
}

TEST_P(PairOfHeaps, ReturnsEverythingWhenItIsDestroyed) {
    {
        const Life life(verbs());
        const std::vector<void*> objects = take(life.heap(), 60);
        if (verbs().clear == nullptr) { // a heap without a record of its objects gets it first
            giveBack(life.heap(), objects);
        }
    }
    expectNothingLeft();
}

TEST_P(PairOfHeaps, ServesFromHeldMemoryWithoutTheHeapBelow) {
    if (verbs().mallocHeld == nullptr) {
        return; // no mallocHeld
    }
    {
        const Life life(verbs());
        giveBack(life.heap(), take(life.heap(), 3));
        const std::size_t before = Ledger::the().requests;
        void* const held = verbs().mallocHeld(life.heap().heap, usual);
        EXPECT_EQ(Ledger::the().requests, before);
        if (held != nullptr) {
            life.heap().free(held);
        }
    }
    expectNothingLeft();
}

TEST_P(PairOfHeaps, OwnsItsObjectsAndNoOthers) {
    if (verbs().owns == nullptr) {
        return; // no owns
    }
    const auto elsewhere = std::make_unique<int>(0);
    const Life life(verbs());
    EXPECT_FALSE(verbs().owns(life.heap().heap, elsewhere.get()));
    const std::vector<void*> objects = take(life.heap(), 20);
    for (void* const object : objects) {
        EXPECT_TRUE(verbs().owns(life.heap().heap, object));
    }
    EXPECT_FALSE(verbs().owns(life.heap().heap, elsewhere.get()));
    giveBack(life.heap(), objects);
}

TEST_P(PairOfHeaps, MeasuresWhatItHasTaken) {
    if (verbs().measure == nullptr) {
        return; // no measure
    }
    const Life life(verbs());
    const std::vector<void*> objects = take(life.heap(), 60);
    MemoryUsage usage;
    verbs().measure(life.heap().heap, usage);
    if (usage.mapped != 0) { // if a heap below knows
        EXPECT_GE(usage.mapped, objects.size() * usual);
        EXPECT_GE(usage.mapped, usage.direct);
    }
    EXPECT_LT(usage.mapped, 4 * GiB);
    giveBack(life.heap(), objects);
}

std::string nameOf(const ::testing::TestParamInfo<Pair>& info) {
    std::string name(info.param.over);
    name = name.substr(0, name.find('<')) + "_over_" + std::string(info.param.under);
    // The position of the dots tells the heaps of one layer apart.
    const std::string_view over = info.param.over;
    std::size_t place = 0;
    for (std::size_t at = over.find("..."), depth = 0; at + 1 < over.size(); ++at) {
        depth += over[at] == '<' ? 1U : 0U;
        depth -= over[at] == '>' && depth > 0 ? 1U : 0U;
        place += over[at] == ',' && depth == 0 ? 1U : 0U;
    }
    return place == 0 ? name : name + "_before_" + std::to_string(place);
}

INSTANTIATE_TEST_SUITE_P(All, PairOfHeaps, ::testing::ValuesIn(allPairs()), nameOf);

/// What a history got from a pair.
std::vector<std::string> remarksOn(const Pair& pair) {
    Ledger::begin();
    HistoryTally tally;
    {
        const Life life(*pair.verbs);
        HistoryShape shape{300, 40, 1, 4000, true};
        if (pair.verbs->uniform) {
            shape.smallest = shape.largest = 48;
        }
        tally = runHistoryOf(life.heap(), 3, shape);
    }
    std::vector<std::string> remarks;
    if (tally.served == 0 || tally.refused != 0) {
        remarks.emplace_back(tally.served == 0 ? "no memory" : "not for every request");
    }
    if (pair.verbs->uniform) {
        remarks.emplace_back("one size");
    }
    if (pair.verbs->stack) {
        remarks.emplace_back("newest first");
    }
    return remarks;
}

TEST(Pairs, AreTheOnesOfTheList) {
    PairList pairs;
    for (const Pair& pair : allPairs()) {
        EXPECT_TRUE(pairs.add(std::string(pair.over), std::string(pair.under), remarksOn(pair)))
            << pair.over << " over " << pair.under << " twice";
    }
    const PairList::Entries found = pairs.entries();
    const char* const write = std::getenv("HEAPWRIGHT_WRITE_PAIRS");
    if (write != nullptr && *write != '\0') {
        std::ofstream list(HEAPWRIGHT_PAIR_LIST);
        PairList::write(list, found);
    }
    std::ifstream list(HEAPWRIGHT_PAIR_LIST);
    const PairList::Entries listed = PairList::read(list);
    const auto entryOf = [](const PairList::Entries& entries, const std::string& layer) {
        const auto entry = entries.find(layer);
        return entry == entries.end() ? "over nothing" : entry->second;
    };
    PairList::Entries either = found;
    either.insert(listed.begin(), listed.end());
    for (const auto& [layer, entry] : either) {
        EXPECT_EQ(entryOf(listed, layer), entryOf(found, layer))
            << "in the list, and found: " << layer;
    }
    EXPECT_GE(pairs.size(), 60U);
    RecordProperty("pairs", static_cast<int>(pairs.size()));
    std::cout << pairs.size() << " pairs of neighbours\n";
}

} // namespace
} // namespace heapwright::testing
