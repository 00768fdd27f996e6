// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/geometric_slots.hpp>
#include <heapwright/structure/superblock/emptiness.hpp>
#include <heapwright/structure/superblock/owner_set.hpp>
#include <heapwright/structure/superblock/owners_view.hpp>
#include <heapwright/structure/superblock/superblock_classes.hpp>
#include <heapwright/sync/counted_lock.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

namespace heapwright::testing {
namespace {

constexpr std::size_t size = 8 * KiB;
using Classes = GeometricSlots<6, 5, 16, 4 * KiB>;
using Superblocks = SuperblockClasses<size, Classes, Emptiness<1, 4, 4>, AnyLines>;
using Block = Superblocks::Block;

struct Owner {
    CountedLock<FutexLock> lock;
    std::uint32_t heldSince = 0;
    Superblocks superblocks;
};
using Owners = OwnerSet<Owner, 4>;
using View = OwnersView<Superblocks, Classes, Owners>;

/// Three owners: the first has a superblock of class 0 with two objects, another heap one of class
/// 3 with one, the global heap one of class 3 with two.
class OwnersViewTest : public ::testing::Test {
protected:
    OwnersViewTest() {
        owners_.enter(1, second_);
        give(owners_.first(), 0, 2);
        give(second_, 3, 1);
        give(owners_.global(), 3, 2);
    }

    void give(Owner& owner, std::size_t sizeClass, int objects) {
        memory_.emplace_back(std::aligned_alloc(size, size));
        Block& block = Superblocks::make(memory_.back().get(), sizeClass, &owner);
        owner.superblocks.add(block);
        for (int i = 0; i < objects; ++i) {
            live_.insert(owner.superblocks[sizeClass].take());
        }
    }

    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::vector<std::unique_ptr<void, Free>> memory_;
    std::set<void*> live_;
    Owner second_;
    Owners owners_;
};

TEST_F(OwnersViewTest, SumsUpAClassOverAllOwners) {
    const auto figures = View(owners_).figuresOf(3);
    const std::size_t each = Superblocks::layoutOf(3).count;
    EXPECT_EQ(figures.used, 3U);
    EXPECT_EQ(figures.held, each);
    EXPECT_EQ(figures.heldGlobal, each);
    EXPECT_EQ(figures.heaps, 2U);
    EXPECT_EQ(View(owners_).figuresOf(1).held, 0U);
}

TEST_F(OwnersViewTest, AddsClassesAndLocksToAnInspection) {
    owners_.first().lock.lock();
    owners_.first().lock.unlock();
    owners_.global().lock.lock();
    owners_.global().lock.unlock();
    std::array<std::uint64_t, Classes::count> returned{};
    returned[3] = 7;
    HeapSnapshot snapshot;
    View(owners_).inspect(snapshot, returned);
    EXPECT_EQ(snapshot.classCount, Classes::count);
    EXPECT_EQ(snapshot.classes[0].live(), 2U);
    EXPECT_EQ(snapshot.classes[0].blocks, 1U);
    EXPECT_EQ(snapshot.classes[3].live(), 3U);
    EXPECT_EQ(snapshot.classes[3].blocks, 2U);
    EXPECT_EQ(snapshot.classes[3].returned, 7U);
    EXPECT_EQ(snapshot.heaps, 2U);
    EXPECT_EQ(snapshot.heapLocks.takes, 1U);
    EXPECT_EQ(snapshot.globalLock.takes, 1U);
}

TEST_F(OwnersViewTest, ShowsEachSuperblock) {
    std::set<void*> seen;
    const auto collect = [&seen](const LiveObject& object) { seen.insert(object.address); };
    View(owners_).forEach([&collect](auto view) { view.walk(ObjectVisitor(collect)); });
    EXPECT_EQ(seen, live_);
}

} // namespace
} // namespace heapwright::testing
