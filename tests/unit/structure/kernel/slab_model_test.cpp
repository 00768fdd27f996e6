// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/kernel/slab_model.hpp>

#include <support/model_test.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace heapwright::testing {
namespace {

using Model = SlabModel<FourProcessors, 2, FutexLock>;
using SlabModelTest = ModelTest<Model>;

TEST_F(SlabModelTest, ServesFromPartialSlabsThenFreeOnesThenNewPages) {
    have(1); // so nothing is shared
    Model::shape(cache, {"two", 2048});
    ASSERT_EQ(cache.slab.objects, 2U);
    ASSERT_EQ(cache.tuning.batch, 12U);
    std::map<Page*, std::vector<void*>> slabs;
    for (int object = 0; object < 60; ++object) {
        void* const taken = take();
        slabs[&PageSection::blockAt(taken)].push_back(taken);
    }
    std::vector<std::vector<void*>> pairs;
    for (const auto& [page, objects] : slabs) {
        pairs.push_back(objects);
    }
    ASSERT_EQ(pairs.size(), 30U);
    std::set<void*> singles;
    std::set<void*> both;
    for (std::size_t slab = 0; slab < 12; ++slab) {
        singles.insert(pairs[slab][0]);
    }
    for (std::size_t slab = 12; slab < 18; ++slab) {
        both.insert(pairs[slab].begin(), pairs[slab].end());
    }
    // The array has room for 24: two batches that came first go to their slabs.
    for (const auto& group : {singles, both}) {
        for (void* const object : group) {
            put(object);
        }
    }
    std::vector<void*> others;
    for (std::size_t slab = 18; others.size() < 13; ++slab) {
        others.insert(others.end(), pairs[slab].begin(), pairs[slab].end());
    }
    for (std::size_t object = 0; object < 13; ++object) {
        put(others[object]);
    }
    Model::Node& node = cache.nodes[0];
    EXPECT_EQ(node.partial.count, 12U);
    EXPECT_EQ(node.free.count, 6U);
    EXPECT_EQ(node.full.count, 12U);
    for (int object = 0; object < 13; ++object) { // what the array still has
        EXPECT_EQ(singles.count(take()), 0U);
    }
    const std::size_t before = pages.taken;
    for (int object = 0; object < 12; ++object) {
        EXPECT_EQ(singles.count(take()), 1U);
    }
    EXPECT_EQ(node.free.count, 6U);
    for (int object = 0; object < 12; ++object) {
        EXPECT_EQ(both.count(take()), 1U);
    }
    EXPECT_EQ(node.free.count, 0U);
    EXPECT_EQ(pages.taken, before);
    EXPECT_NE(take(), nullptr);
    EXPECT_EQ(pages.taken, before + 1);
}

TEST_F(SlabModelTest, MovesObjectsBetweenProcessorsByTheBatch) {
    Model::shape(cache, {"skb", 64});
    std::vector<void*> objects;
    while (objects.size() < 150 || cache.processors[0].array.count != 0) {
        objects.push_back(take());
    }
    for (int object = 0; object < 120; ++object) {
        put(objects.back());
        objects.pop_back();
    }
    EXPECT_EQ(cache.nodes[0].shared.count, 0U);
    put(objects.back());
    EXPECT_EQ(cache.nodes[0].shared.count, 60U);
    EXPECT_EQ(cache.processors[0].array.count, 61U);
    const std::size_t before = pages.taken;
    FourProcessors::beOn(1); // on the same node
    EXPECT_NE(take(), nullptr);
    EXPECT_EQ(cache.nodes[0].shared.count, 0U);
    EXPECT_EQ(cache.processors[1].array.count, 59U);
    EXPECT_EQ(pages.taken, before);
    EXPECT_EQ(Model::figuresOf(cache).waiting, 0U);
}

TEST_F(SlabModelTest, HasListsForEachNodeWhichServeItsProcessors) {
    Model::shape(cache, {"inode", 500});
    void* const first = take();
    FourProcessors::beOn(3);
    void* const second = take();
    EXPECT_EQ(PageSection::of(first).node, 0U);
    EXPECT_EQ(PageSection::of(second).node, 1U);
    EXPECT_EQ(Model::slabsOf(cache, 0), Model::slabsOf(cache, 1));
    // What is freed on another node goes to its slab, not into the array there.
    const std::size_t kept = cache.processors[3].array.count;
    const std::size_t free = cache.nodes[0].freeObjects;
    put(first);
    EXPECT_EQ(cache.processors[3].array.count, kept);
    EXPECT_EQ(cache.nodes[0].freeObjects, free + 1);
    EXPECT_EQ(Model::figuresOf(cache).remoteFrees, 1U);
}

TEST_F(SlabModelTest, ConstructsWhenASlabIsMadeAndDestroysWhenItsPagesGo) {
    Model::shape(cache, Constructed::traits(200));
    for (int round = 0; round < 3; ++round) {
        std::vector<void*> objects;
        for (int object = 0; object < 100; ++object) {
            objects.push_back(take());
            ASSERT_EQ(static_cast<Constructed*>(objects.back())->word, Constructed::mark);
        }
        for (void* const object : objects) {
            put(object);
        }
        EXPECT_EQ(Constructed::constructed, cache.slabs * cache.slab.objects);
        EXPECT_EQ(Constructed::destroyed, 0U);
    }
    EXPECT_TRUE(Model::shrink(cache, pages));
    EXPECT_EQ(Constructed::destroyed, Constructed::constructed);
    EXPECT_EQ(pages.given, pages.taken);
}

TEST_F(SlabModelTest, ShiftsTheObjectsOfEachSlabByAColour) {
    Model::shape(cache, {"coloured", 192, 64});
    std::map<Page*, std::size_t> firsts;
    for (int object = 0; object < 84; ++object) {
        void* const taken = take();
        Page& page = PageSection::blockAt(taken);
        const std::size_t offset = addressOf(taken) % bytesOfPage;
        const auto place = firsts.emplace(&page, offset).first;
        place->second = std::min(place->second, offset);
    }
    std::multiset<std::size_t> offsets;
    for (const auto& [page, offset] : firsts) {
        offsets.insert(offset);
    }
    EXPECT_EQ(offsets, (std::multiset<std::size_t>{0, 0, 64, 64}));
}

TEST_F(SlabModelTest, AnswersNullWithoutPages) {
    Model::shape(cache, {"none", 100});
    pages.refuses = true;
    EXPECT_EQ(take(), nullptr);
    pages.refuses = false;
    EXPECT_NE(take(), nullptr);
}

} // namespace
} // namespace heapwright::testing
