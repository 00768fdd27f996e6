// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/linear_slots.hpp>
#include <heapwright/structure/cache/cache_limits.hpp>
#include <heapwright/structure/cache/owner_cache.hpp>
#include <heapwright/structure/cache/owner_cache_view.hpp>

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace heapwright::testing {
namespace {

using Classes = LinearSlots<512, 512, 2 * KiB>;
constexpr auto limits = CacheLimits{.perClassBytes = 1 * KiB,
                                    .perClassObjects = 16,
                                    .refillBytes = 512,
                                    .batchObjects = 8,
                                    .remoteObjects = 8,
                                    .remoteBytes = 4 * KiB};

template <class Encoding>
class OwnerCacheViewTest : public ::testing::Test {
protected:
    using Cache = OwnerCache<Classes, limits, Encoding>;

    OwnerCacheViewTest() {
        Encoding::prepare();
        cache_.begin(keyOfThread(1));
        for (int i = 0; i < 3; ++i) {
            EXPECT_TRUE(cache_.put(objects_.at(static_cast<std::size_t>(i)).data(), 0));
        }
        std::size_t number = 0;
        EXPECT_EQ(cache_.putRemote(objects_[3].data(), 32, number), nullptr);
    }
    ~OwnerCacheViewTest() override { cache_.end(); }

    std::set<void*> kept(std::size_t most) {
        std::set<void*> seen;
        OwnerCacheView<Cache>(cache_).forEachKept(
            [&](ObjectLink* object) { return seen.insert(object).second && seen.size() < most; });
        return seen;
    }

    alignas(16) std::array<std::array<char, 16>, 4> objects_{};
    Cache cache_;
};
using Codes = ::testing::Types<PlainFreelist, EncodedFreelist>;
TYPED_TEST_SUITE(OwnerCacheViewTest, Codes);

TYPED_TEST(OwnerCacheViewTest, VisitsTheObjectsOfEveryList) {
    std::set<void*> all;
    for (auto& object : this->objects_) {
        all.insert(object.data());
    }
    EXPECT_EQ(this->kept(100), all);
}

TYPED_TEST(OwnerCacheViewTest, StopsAListWhenTheVisitorReturnsFalse) {
    std::set<void*> seen;
    const auto one = [&seen](ObjectLink* object) {
        seen.insert(object);
        return false;
    };
    OwnerCacheView<typename TestFixture::Cache>(this->cache_).forEachKept(one);
    EXPECT_EQ(seen, (std::set<void*>{this->objects_[2].data(), this->objects_[3].data()}));
}

TYPED_TEST(OwnerCacheViewTest, InspectAddsItsFiguresToTheSnapshot) {
    HeapSnapshot snapshot;
    OwnerCacheView<typename TestFixture::Cache>(this->cache_).inspect(snapshot);
    EXPECT_EQ(snapshot.classes[0].cached, 3U);
    EXPECT_EQ(snapshot.cacheCount, 1U);
    EXPECT_EQ(snapshot.caches[0].objects, 3U);
    EXPECT_EQ(snapshot.caches[0].bytes, 3 * Classes::sizeOf(0));
    EXPECT_EQ(snapshot.caches[0].remoteObjects, 1U);
    EXPECT_EQ(snapshot.caches[0].remoteBytes, 32U);
    EXPECT_EQ(snapshot.caches[0].flushes, 0U);
    EXPECT_TRUE(
        this->cache_.hand(0, 2, [](ObjectLink* chain, std::size_t number, ObjectLink* /*end*/) {
            EXPECT_EQ(number, 2U);
            return chain->next->next;
        }));
    EXPECT_NE(this->cache_.takeRemote(), nullptr);
    snapshot = {};
    OwnerCacheView<typename TestFixture::Cache>(this->cache_).inspect(snapshot);
    EXPECT_EQ(snapshot.caches[0].objects, 1U);
    EXPECT_EQ(snapshot.caches[0].remoteObjects, 0U);
    EXPECT_EQ(snapshot.caches[0].flushes, 2U);
}

} // namespace
} // namespace heapwright::testing
