// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/kernel/slub_model.hpp>

#include <support/model_test.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace heapwright::testing {
namespace {

using Model = SlubModel<FourProcessors, 2, FutexLock>;
using SlubModelTest = ModelTest<Model>;

TEST_F(SlubModelTest, ForgetsFullSlabs) {
    Model::shape(cache, {"file", 256});
    const std::vector<void*> objects = takeSlabs(10);
    EXPECT_EQ(cache.slabs, 10U);
    EXPECT_EQ(Model::partialOf(cache, 0), 0U);
    EXPECT_EQ(cache.processors[0].partials, 0U);
    // The first object that is freed in one brings it back: to the processor that frees it.
    put(objects[0]);
    EXPECT_EQ(cache.processors[0].partials, 1U);
    EXPECT_EQ(cache.processors[0].partial, &PageSection::blockAt(objects[0]));
    EXPECT_EQ(Model::partialOf(cache, 0), 0U);
}

TEST_F(SlubModelTest, HandsWhatAProcessorKeepsToItsNodeWhenItIsTooMuch) {
    Model::shape(cache, {"file", 256});
    const std::vector<void*> objects = takeSlabs(20);
    const std::size_t most = cache.mostPartials;
    ASSERT_LT(most, 19U);
    for (std::size_t slab = 0; slab < most; ++slab) {
        put(objects[slab * cache.slab.objects]);
    }
    EXPECT_EQ(cache.processors[0].partials, most);
    put(objects[most * cache.slab.objects]);
    EXPECT_EQ(cache.processors[0].partials, 1U);
    EXPECT_EQ(Model::partialOf(cache, 0), most);
}

TEST_F(SlubModelTest, LinksFreeObjectsThroughThemselves) {
    Model::shape(cache, {"skb", 200});
    void* const first = take();
    void* const second = take();
    put(first);
    put(second);
    EXPECT_EQ(cache.processors[0].free, second);
    EXPECT_EQ(nextObject(second, cache.link), first);
    EXPECT_EQ(take(), second);
    EXPECT_EQ(take(), first);
}

TEST_F(SlubModelTest, TakesFromItsActiveSlabWithoutTheLockOfTheNode) {
    Model::shape(cache, {"skb", 200});
    void* const object = take();
    cache.nodes[0].lock.lock();
    cache.nodes[1].lock.lock();
    put(object); // would wait for ever
    EXPECT_EQ(take(), object);
    cache.nodes[1].lock.unlock();
    cache.nodes[0].lock.unlock();
}

TEST_F(SlubModelTest, KeepsALeastOfEmptySlabsAndGivesOthersBackAtOnce) {
    Model::shape(cache, {"file", 256});
    const std::vector<void*> objects = takeSlabs(40);
    for (void* const object : objects) {
        put(object);
    }
    EXPECT_GT(pages.given, 0U);
    EXPECT_LE(Model::partialOf(cache, 0), cache.leastPartial + cache.mostPartials);
    EXPECT_TRUE(Model::shrink(cache, pages));
    EXPECT_EQ(pages.given, pages.taken);
    EXPECT_EQ(Model::figuresOf(cache).live, 0U);
}

TEST_F(SlubModelTest, ServesAProcessorFromItsNodeAndFromOneThatHasMany) {
    Model::shape(cache, {"file", 256});
    const std::vector<void*> objects = takeSlabs(40);
    FourProcessors::beOn(2); // of the other node
    void* const own = take();
    EXPECT_EQ(PageSection::of(own).node, 1U);
    FourProcessors::beOn(0);
    for (std::size_t slab = 0; slab < 40; ++slab) {
        put(objects[slab * cache.slab.objects]);
    }
    ASSERT_GT(Model::partialOf(cache, 0), cache.leastPartial);
    FourProcessors::beOn(3);
    const std::size_t before = pages.taken;
    void* const foreign = take();
    EXPECT_EQ(PageSection::of(foreign).node, 0U);
    EXPECT_EQ(pages.taken, before);
}

TEST_F(SlubModelTest, CountsFreesIntoSlabsThatLastServedAnotherProcessor) {
    Model::shape(cache, {"skb", 200});
    const std::vector<void*> objects = takeSlabs(2);
    put(objects[0]); // a full one of its own
    EXPECT_EQ(Model::figuresOf(cache).remoteFrees, 0U);
    FourProcessors::beOn(1);
    put(objects[1]);
    EXPECT_EQ(Model::figuresOf(cache).remoteFrees, 1U);
}

TEST_F(SlubModelTest, ConstructsWhenASlabIsMadeAndDestroysWhenItsPagesGo) {
    Model::shape(cache, Constructed::traits(200));
    auto* const object = static_cast<Constructed*>(take());
    EXPECT_EQ(Constructed::constructed, cache.slab.objects);
    object->uses = 7;
    put(object);
    EXPECT_EQ(static_cast<Constructed*>(take())->uses, 7U);
    put(object);
    Model::shrink(cache, pages);
    EXPECT_EQ(Constructed::destroyed, Constructed::constructed);
}

} // namespace
} // namespace heapwright::testing
