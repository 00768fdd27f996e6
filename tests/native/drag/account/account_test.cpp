// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The account of drag. The tests have figures that can be computed by hand, and random histories
// against a slow account that keeps all events.
#include "drag/account/account.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace heapwright::drag {
namespace {

using Points = std::vector<CurvePoint>;

Points pointsOf(const Curves& curves) {
    Points points;
    curves.eachPoint([&](const CurvePoint& point) { points.push_back(point); });
    return points;
}

std::uint64_t low(Area area) {
    return static_cast<std::uint64_t>(area);
}

/// The same figures from a list of lifetimes.
class SlowAccount {
public:
    void allocate(std::uint64_t address, std::uint64_t size, std::uint32_t site) {
        const std::uint64_t before = clock_;
        clock_ += size;
        live_[address] = {before, clock_, 0, size, site};
    }
    void free(std::uint64_t address) {
        Life life = live_.at(address);
        life.end = clock_;
        lives_.push_back(life);
        live_.erase(address);
    }
    void access(std::uint64_t address) { live_.at(address).last = clock_; }
    void finish() {
        while (!live_.empty())
            free(live_.begin()->first);
    }

    Area area(bool held) const {
        Area sum = 0;
        for (const Life& life : lives_)
            sum += Area{life.size} * ((held ? life.end : life.last) - life.begin);
        return sum;
    }
    std::uint64_t at(std::uint64_t clock, bool held) const {
        std::uint64_t sum = 0;
        for (const Life& life : lives_)
            sum += life.begin <= clock && clock < (held ? life.end : life.last) ? life.size : 0;
        return sum;
    }
    /// The sum changes upwards only where an object begins.
    std::uint64_t most(bool held) const {
        std::uint64_t most = 0;
        for (const Life& life : lives_)
            if (life.size != 0)
                most = std::max(most, at(life.begin, held));
        return most;
    }
    Area siteArea(std::uint32_t site, bool held) const {
        Area sum = 0;
        for (const Life& life : lives_)
            if (life.site == site)
                sum += Area{life.size} * ((held ? life.end : life.last) - life.begin);
        return sum;
    }
    std::uint64_t clock() const { return clock_; }

private:
    struct Life {
        std::uint64_t begin;
        std::uint64_t last;
        std::uint64_t end;
        std::uint64_t size;
        std::uint32_t site;
    };

    std::uint64_t clock_ = 0;
    std::map<std::uint64_t, Life> live_;
    std::vector<Life> lives_;
};

TEST(DragAccount, NothingIsNothing) {
    const auto account = std::make_unique<Account>();
    account->finish();
    const Totals totals = account->curves().totals();
    EXPECT_EQ(totals.clock, 0U);
    EXPECT_EQ(low(totals.held), 0U);
    EXPECT_EQ(totals.mostNeeded.bytes, 0U);
    EXPECT_TRUE(pointsOf(account->curves()).empty());
}

/// N objects, each used at once, all freed at the end: (N + 1) / 2.
TEST(DragAccount, RegionThatIsFreedAtTheEnd) {
    const auto account = std::make_unique<Account>();
    constexpr std::uint64_t count = 9;
    for (std::uint64_t i = 1; i <= count; ++i) {
        account->allocate(4096 * i, 100, 7);
        account->access(4096 * i + 99, 1);
    }
    for (std::uint64_t i = 1; i <= count; ++i)
        EXPECT_TRUE(account->free(4096 * i));
    account->finish();
    const Totals totals = account->curves().totals();
    EXPECT_EQ(low(totals.held), 100 * 100 * count * (count + 1) / 2);
    EXPECT_EQ(low(totals.needed), 100 * 100 * count);
    EXPECT_EQ(totals.mostHeld.bytes, 900U);
    EXPECT_EQ(totals.mostHeld.at, 900U);
    EXPECT_EQ(totals.mostNeeded.bytes, 100U);
    EXPECT_EQ(totals.mostNeeded.at, 100U);
    EXPECT_EQ(account->curves().site(7)->objects, count);
    EXPECT_EQ(account->curves().site(7)->untouched, 0U);
    EXPECT_EQ(account->curves().site(6)->objects, 0U);
}

TEST(DragAccount, AnObjectUsedUntilItsFreeHasNoDrag) {
    const auto account = std::make_unique<Account>();
    for (std::uint64_t i = 1; i <= 50; ++i) {
        account->allocate(4096 * i, 8 * i, 0);
        for (std::uint64_t each = 1; each <= i; ++each)
            account->access(4096 * each, 8);
    }
    account->finish();
    const Totals totals = account->curves().totals();
    EXPECT_EQ(low(totals.held), low(totals.needed));
    EXPECT_EQ(totals.mostHeld.bytes, totals.mostNeeded.bytes);
    EXPECT_EQ(account->curves().site(0)->unfreed, 50U);
}

TEST(DragAccount, ReallocEndsOneLifeAndBeginsAnother) {
    const auto moved = std::make_unique<Account>();
    const auto stayed = std::make_unique<Account>();
    for (Account* const each : {moved.get(), stayed.get()}) {
        each->allocate(0x1000, 10, 0);
        each->allocate(0x2000, 30, 0);
        each->reallocate(0x1000, each == moved.get() ? 0x3000 : 0x1000, 20, 0);
        each->finish();
        const Totals totals = each->curves().totals();
        EXPECT_EQ(totals.objects, 3U);
        EXPECT_EQ(totals.clock, 60U);
        EXPECT_EQ(low(totals.needed), 10U * 40 + 30 * 30 + 20 * 20);
        EXPECT_EQ(low(totals.held), 10U * 40 + 30 * 50 + 20 * 20);
        EXPECT_EQ(totals.mostHeld.bytes, 50U);
    }
    const auto fromNothing = std::make_unique<Account>();
    fromNothing->reallocate(0, 0x1000, 5, 0);
    EXPECT_EQ(fromNothing->oddities().unknownFrees, 0U);
    EXPECT_EQ(fromNothing->liveObjects(), 1U);
}

TEST(DragAccount, AnAccessMayLieInSeveralObjects) {
    const auto account = std::make_unique<Account>();
    account->allocate(0x1000, 16, 1);
    account->allocate(0x1010, 0x3000, 2);
    account->allocate(0x8000000, 16, 3);
    account->allocate(0x8000010, 16, 4);
    account->access(0x1008, 0x8000008 - 0x1008 + 1);
    account->finish();
    EXPECT_EQ(account->curves().site(1)->untouched, 0U);
    EXPECT_EQ(account->curves().site(2)->untouched, 0U);
    EXPECT_EQ(account->curves().site(3)->untouched, 0U);
    EXPECT_EQ(account->curves().site(4)->untouched, 1U);
    EXPECT_EQ(account->curves().site(4)->untouchedBytes, 16U);
}

TEST(DragAccount, ImpossibleEventsAreCountedAndDoNoHarm) {
    const auto account = std::make_unique<Account>();
    EXPECT_FALSE(account->free(0));
    EXPECT_FALSE(account->free(0x5000));
    account->allocate(0x1000, 64, 0);
    EXPECT_FALSE(account->free(0x1008));
    EXPECT_EQ(account->oddities().unknownFrees, 2U);
    account->allocate(0x0ff8, 16, 1); // over the beginning of the first
    EXPECT_EQ(account->oddities().overwritten, 1U);
    EXPECT_EQ(account->liveObjects(), 1U);
    account->allocate(~std::uint64_t{15}, 16, 1);
    account->allocate(0x1000, ~std::uint64_t{0}, 1);
    account->allocate(0, 8, 1);
    EXPECT_EQ(account->oddities().unplaced, 3U);
    account->access(~std::uint64_t{7}, 8);
    account->access(0, 8);
    account->access(0x1000, 0);
    account->access((std::uint64_t{1} << 48) - 8, 64);
    EXPECT_TRUE(account->free(0x0ff8));
    EXPECT_EQ(account->liveObjects(), 0U);
}

TEST(DragAccount, ObjectsOfNoBytesTakeNoTime) {
    const auto account = std::make_unique<Account>();
    account->allocate(0x1000, 0, 3);
    account->allocate(0x1010, 0, 3);
    EXPECT_TRUE(account->free(0x1010));
    account->access(0x1000, 1);
    account->finish();
    const Totals totals = account->curves().totals();
    EXPECT_EQ(totals.objects, 2U);
    EXPECT_EQ(totals.clock, 0U);
    EXPECT_EQ(low(totals.held), 0U);
    EXPECT_EQ(account->curves().site(3)->objects, 2U);
}

TEST(DragAccount, AreasOfLargeObjectsDoNotOverflow) {
    const auto account = std::make_unique<Account>();
    constexpr std::uint64_t size = std::uint64_t{1} << 36;
    account->allocate(size, size, 0);
    account->allocate(4 * size, size, 0);
    account->access(size + 1, 4);
    account->finish();
    const Totals totals = account->curves().totals();
    EXPECT_TRUE(totals.held == Area{size} * size * 3);
    EXPECT_TRUE(totals.needed == totals.held);
}

class RandomHistory : public testing::TestWithParam<unsigned> {};

/// Enough allocations that the account forgets gaps and folds its steps many times.
TEST_P(RandomHistory, IsAsTheSlowAccountSays) {
    std::mt19937 random(GetParam());
    const auto account = std::make_unique<Account>();
    SlowAccount slow;
    std::vector<std::uint64_t> live;
    std::vector<std::uint64_t> spare;
    std::uint64_t fresh = 1 << 16;
    const unsigned kinds = 2 + GetParam() % 5;
    for (int i = 0; i < 30'000; ++i) {
        const bool full = live.size() > 40 * kinds;
        if (live.empty() || (random() % 4 == 0 && !full)) {
            const std::uint64_t size = random() % 50 == 0 ? random() % 20'000 : random() % 200;
            if (spare.empty()) {
                spare.push_back(fresh);
                fresh += 20'480 - 8;
            }
            live.push_back(spare.back());
            spare.pop_back();
            account->allocate(live.back(), size, static_cast<std::uint32_t>(random() % kinds));
            slow.allocate(live.back(), size, 0);
        }
        const std::size_t at = random() % live.size();
        if (random() % kinds == 0 || full) {
            EXPECT_TRUE(account->free(live[at]));
            slow.free(live[at]);
            spare.push_back(live[at]);
            live[at] = live.back();
            live.pop_back();
        } else if (random() % 3 == 0) {
            account->access(live[at], 1);
            slow.access(live[at]);
        }
    }
    account->finish();
    slow.finish();
    const Totals totals = account->curves().totals();
    EXPECT_EQ(totals.clock, slow.clock());
    EXPECT_TRUE(totals.held == slow.area(true));
    EXPECT_TRUE(totals.needed == slow.area(false));
    EXPECT_EQ(totals.mostHeld.bytes, slow.most(true));
    EXPECT_EQ(totals.mostNeeded.bytes, slow.most(false));
    EXPECT_EQ(slow.at(totals.mostNeeded.at - 1, false), totals.mostNeeded.bytes);
    Area held = 0;
    for (std::uint32_t site = 0; site < account->curves().siteCount(); ++site)
        held += account->curves().site(site)->held;
    EXPECT_TRUE(held == totals.held);
    for (const CurvePoint& point : pointsOf(account->curves())) {
        ASSERT_EQ(point.held, slow.at(point.at, true)) << point.at;
        ASSERT_EQ(point.needed, slow.at(point.at, false)) << point.at;
    }
    EXPECT_EQ(account->oddities().unknownFrees + account->oddities().overwritten, 0U);
}

INSTANTIATE_TEST_SUITE_P(DragAccount, RandomHistory, testing::Range(0U, 6U));

/// The largest need is found among times that were forgotten and put together again.
TEST(DragAccount, GapsArePutTogetherAroundLongLives) {
    const auto account = std::make_unique<Account>();
    SlowAccount slow;
    std::mt19937 random(5);
    const auto allocate = [&](std::uint64_t address, std::uint64_t size) {
        account->allocate(address, size, 0);
        slow.allocate(address, size, 0);
    };
    for (std::uint64_t i = 1; i <= 20; ++i)
        allocate(i << 20, 1000 * i);
    for (std::uint64_t i = 0; i < 40'000; ++i) {
        allocate(std::uint64_t{1} << 30, 1 + random() % 30);
        if (random() % 100 == 0) {
            const std::uint64_t each = 1 + random() % 20;
            account->access(each << 20, 8);
            slow.access(each << 20);
        }
        account->free(std::uint64_t{1} << 30);
        slow.free(std::uint64_t{1} << 30);
        if (i % 2000 == 1999) {
            account->free((i / 2000 + 1) << 20);
            slow.free((i / 2000 + 1) << 20);
            allocate((i / 2000 + 1) << 20, 500 * (i / 2000));
        }
    }
    EXPECT_LT(account->curves().unsettled(), 9000U);
    account->finish();
    slow.finish();
    const Totals totals = account->curves().totals();
    EXPECT_TRUE(totals.needed == slow.area(false));
    EXPECT_GE(totals.mostNeeded.bytes, slow.at(0, false));
    EXPECT_EQ(totals.mostNeeded.bytes, slow.at(totals.mostNeeded.at - 1, false));
}

TEST(DragAccount, ThreadsMayAccessWhileOthersAllocate) {
    const auto account = std::make_unique<Account>();
    account->allocate(0x10000, 64, 0);
    std::atomic<bool> over = false;
    std::thread reader([&] {
        while (!over)
            account->access(0x10000 + 8, 16);
    });
    for (std::uint64_t i = 0; i < 50'000; ++i) {
        account->allocate(0x20000 + i % 64 * 0x800, 0x700, 1);
        account->free(0x20000 + (i * 7 + 3) % 64 * 0x800);
    }
    over = true;
    reader.join();
    account->finish();
    EXPECT_EQ(account->curves().site(0)->objects, 1U);
    EXPECT_GE(low(account->curves().site(0)->held), low(account->curves().site(0)->needed));
}

} // namespace
} // namespace heapwright::drag
