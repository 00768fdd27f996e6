// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/concepts.hpp>
#include <heapwright/sizeclass/geometric_slots.hpp>
#include <heapwright/structure/superblock/emptiness.hpp>
#include <heapwright/structure/superblock/hoard_owner.hpp>
#include <heapwright/structure/superblock/superblock.hpp>
#include <heapwright/structure/superblock/superblock_lists.hpp>
#include <heapwright/structure/superblock/superblock_view.hpp>
#include <heapwright/sync/counted_lock.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace heapwright::testing {
namespace {

constexpr std::size_t size = 8 * KiB;
using Block = Superblock<size, CleanLines>;

class SuperblockViewTest : public ::testing::Test {
protected:
    /// Each object's address and whether it is marked.
    std::map<void*, bool> seen() {
        std::map<void*, bool> objects;
        const auto collect = [&objects](const LiveObject& object) {
            EXPECT_EQ(object.sizeClass, 7U);
            EXPECT_TRUE(objects.emplace(object.address, object.cached).second) << "seen twice";
        };
        SuperblockView<Block>(block_).walk(ObjectVisitor(collect));
        return objects;
    }
    bool mark(const void* object) { return SuperblockView<Block>(block_).mark(object); }
    void unmark() { SuperblockView<Block>(block_).unmark(); }

    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<void, Free> memory_{std::aligned_alloc(size, size)};
    Block& block_ = *::new (std::memset(memory_.get(), 0xEE, size)) Block(Block::layoutFor(96), 7);
};

TEST_F(SuperblockViewTest, SeesNothingInANewSuperblock) {
    EXPECT_TRUE(seen().empty());
}

TEST_F(SuperblockViewTest, SeesWhatIsLiveAndNothingElse) {
    std::set<void*> live;
    for (int i = 0; i < 10; ++i) {
        live.insert(block_.allocate());
    }
    for (int i = 0; i < 3; ++i) {
        block_.free(*live.begin());
        live.erase(live.begin());
    }
    const auto objects = seen();
    EXPECT_EQ(objects.size(), live.size());
    for (const auto& [object, cached] : objects) {
        EXPECT_EQ(live.count(object), 1U);
        EXPECT_FALSE(cached);
    }
}

TEST_F(SuperblockViewTest, SeesAnObjectInsideItsSlotWhereItStands) {
    void* object = nullptr;
    for (int i = 0; object == nullptr; ++i) {
        void* const slot = block_.allocate();
        if (addressOf(slot) % 64 != 0) {
            object = Block::alignInSlot(slot, 64);
        }
    }
    EXPECT_EQ(seen().count(object), 1U);
    EXPECT_TRUE(mark(object));
    EXPECT_TRUE(seen().at(object));
    std::size_t capacity = 0;
    const auto measure = [&](const LiveObject& each) {
        capacity = each.address == object ? each.size : capacity;
    };
    SuperblockView<Block>(block_).walk(ObjectVisitor(measure));
    EXPECT_EQ(capacity, block_.capacityAt(object));
}

TEST_F(SuperblockViewTest, SeesWhatIsLiveFromBeforeATransfer) {
    void* const object = block_.allocate();
    block_.assignTo(keyOfThread(1));
    block_.assignTo(keyOfThread(2));
    EXPECT_EQ(seen(), (std::map<void*, bool>{{object, false}}));
}

TEST_F(SuperblockViewTest, MarksOnceAndTakesAllMarksAway) {
    void* const one = block_.allocate();
    void* const other = block_.allocate();
    EXPECT_TRUE(mark(one));
    EXPECT_FALSE(mark(one));
    EXPECT_EQ(seen(), (std::map<void*, bool>{{one, true}, {other, false}}));
    unmark();
    EXPECT_EQ(seen(), (std::map<void*, bool>{{one, false}, {other, false}}));
    block_.free(one); // which would abort if it were marked
    EXPECT_EQ(seen().size(), 1U);
}

TEST_F(SuperblockViewTest, MarksNothingThatIsNoObject) {
    void* const object = block_.allocate();
    void* const freed = block_.allocate();
    block_.free(freed);
    EXPECT_FALSE(mark(freed));
    EXPECT_FALSE(mark(forward(object, 16)));
    EXPECT_FALSE(mark(forward(object, 96 * 5))) << "never used";
    EXPECT_FALSE(mark(&block_));
    EXPECT_FALSE(mark(forward(&block_, size - 1)));
}

using Classes = GeometricSlots<6, 5, 16, 4 * KiB>;
using Superblocks = SuperblockClasses<size, Classes, Emptiness<1, 4, 4>, AnyLines>;

struct Owner {
    CountedLock<FutexLock> lock;
    std::uint32_t heldByFork = 0;
    Superblocks superblocks;
};
using Owners = OwnerSet<Owner, 4>;
using View = OwnersView<Superblocks, Classes, Owners>;

/// There are three owners. The first has a superblock of class 0 with two objects. Another heap has
/// one of class 3 with one, and the global heap one of class 3 with two.
class OwnersViewTest : public ::testing::Test {
protected:
    OwnersViewTest() {
        owners_.add(1, second_);
        give(owners_.first(), 0, 2);
        give(second_, 3, 1);
        give(owners_.global(), 3, 2);
    }

    void give(Owner& owner, std::size_t sizeClass, int objects) {
        memory_.emplace_back(std::aligned_alloc(size, size));
        Superblocks::Block& block = Superblocks::make(memory_.back().get(), sizeClass, &owner);
        owner.superblocks.add(block);
        for (int i = 0; i < objects; ++i) {
            live_.insert(owner.superblocks[sizeClass].allocate());
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
