// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/kernel/slqb_model.hpp>

#include <support/model_test.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <vector>

namespace heapwright::testing {
namespace {

using Model = SlqbModel<FourProcessors, 2, FutexLock>;
using SlqbModelTest = ModelTest<Model>;

TEST_F(SlqbModelTest, QueuesWhatIsFreedTheLastInFirstOut) {
    Model::shape(cache, {"bio", 256});
    const std::vector<void*> objects = takeMany(3);
    for (void* const object : objects) {
        put(object);
    }
    EXPECT_EQ(cache.processors[0].free.count, 3U);
    EXPECT_EQ(take(), objects[2]);
    EXPECT_EQ(take(), objects[1]);
    EXPECT_EQ(take(), objects[0]);
}

TEST_F(SlqbModelTest, GivesABatchToItsSlabsWhenTheQueueIsTooLong) {
    Model::shape(cache, {"bio", 256});
    const std::vector<void*> objects = takeMany(cache.most + 1);
    for (std::size_t object = 0; object < cache.most; ++object) {
        put(objects[object]);
    }
    EXPECT_EQ(cache.processors[0].free.count, cache.most);
    EXPECT_EQ(pages.given, 0U);
    put(objects[cache.most]);
    EXPECT_EQ(cache.processors[0].free.count, cache.most + 1 - cache.batch);
    EXPECT_EQ(pages.given, cache.batch / cache.slab.objects) << "the latest slabs, whole";
}

TEST_F(SlqbModelTest, GathersOthersObjectsAndHandsThemToTheirOwnerByTheBatch) {
    Model::shape(cache, {"skb", 256});
    const std::vector<void*> objects = takeMany(cache.batch + 1);
    Model::Processor& owner = cache.processors[0];
    FourProcessors::beOn(3);
    for (std::size_t object = 0; object < cache.batch; ++object) {
        put(objects[object]);
    }
    EXPECT_EQ(cache.processors[3].remote.count, cache.batch);
    EXPECT_EQ(owner.returned.count, 0U);
    EXPECT_FALSE(owner.toldToLook);
    EXPECT_EQ(Model::figuresOf(cache).waiting, cache.batch);
    put(objects[cache.batch]);
    EXPECT_EQ(cache.processors[3].remote.count, 0U);
    EXPECT_EQ(owner.returned.count, cache.batch + 1);
    EXPECT_TRUE(owner.toldToLook);
    // It takes them in when its own queue is empty.
    const std::size_t before = pages.taken;
    FourProcessors::beOn(0);
    const std::set<void*> theirs(objects.begin(), objects.end());
    EXPECT_EQ(theirs.count(take()), 1U);
    EXPECT_EQ(owner.returned.count, 0U);
    EXPECT_FALSE(owner.toldToLook);
    EXPECT_EQ(owner.free.count, cache.batch);
    EXPECT_EQ(pages.taken, before);
    EXPECT_EQ(Model::figuresOf(cache).remoteFrees, cache.batch + 1);
}

TEST_F(SlqbModelTest, TakesPagesOfTheProcessorsNode) {
    Model::shape(cache, {"inode", 500});
    FourProcessors::beOn(2);
    void* const object = take();
    EXPECT_EQ(PageSection::of(object).node, 1U);
    EXPECT_EQ(PageSection::blockAt(object).mark, 2U);
}

TEST_F(SlqbModelTest, GivesAllBackWhenItShrinks) {
    Model::shape(cache, Constructed::traits(200));
    const std::vector<void*> objects = takeMany(500);
    for (std::size_t object = 0; object < objects.size(); ++object) {
        FourProcessors::beOn(object % 4);
        put(objects[object]);
    }
    EXPECT_TRUE(Model::shrink(cache, pages));
    EXPECT_EQ(cache.slabs, 0U);
    EXPECT_EQ(pages.given, pages.taken);
    EXPECT_EQ(Constructed::destroyed, Constructed::constructed);
    EXPECT_EQ(Model::figuresOf(cache).live, 0U);
}

} // namespace
} // namespace heapwright::testing
