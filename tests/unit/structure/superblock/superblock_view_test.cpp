// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/superblock/superblock.hpp>
#include <heapwright/structure/superblock/superblock_view.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>

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
        live.insert(block_.take());
    }
    for (int i = 0; i < 3; ++i) {
        block_.give(*live.begin());
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
        void* const slot = block_.take();
        if (addressOf(slot) % 64 != 0) {
            object = Block::moveInside(slot, 64);
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
    void* const object = block_.take();
    block_.letTo(keyOfThread(1));
    block_.letTo(keyOfThread(2));
    EXPECT_EQ(seen(), (std::map<void*, bool>{{object, false}}));
}

TEST_F(SuperblockViewTest, MarksOnceAndTakesAllMarksAway) {
    void* const one = block_.take();
    void* const other = block_.take();
    EXPECT_TRUE(mark(one));
    EXPECT_FALSE(mark(one));
    EXPECT_EQ(seen(), (std::map<void*, bool>{{one, true}, {other, false}}));
    unmark();
    EXPECT_EQ(seen(), (std::map<void*, bool>{{one, false}, {other, false}}));
    block_.give(one); // which would abort if it were marked
    EXPECT_EQ(seen().size(), 1U);
}

TEST_F(SuperblockViewTest, MarksNothingThatIsNoObject) {
    void* const object = block_.take();
    void* const freed = block_.take();
    block_.give(freed);
    EXPECT_FALSE(mark(freed));
    EXPECT_FALSE(mark(forward(object, 16)));
    EXPECT_FALSE(mark(forward(object, 96 * 5))) << "never used";
    EXPECT_FALSE(mark(&block_));
    EXPECT_FALSE(mark(forward(&block_, size - 1)));
}

} // namespace
} // namespace heapwright::testing
