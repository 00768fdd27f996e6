// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/superblock/emptiness.hpp>
#include <heapwright/structure/superblock/hoard_owner.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <type_traits>
#include <vector>

namespace heapwright::testing {
namespace {

struct Superblocks {
    int number = 0;
};
using Plain = HoardOwner<Superblocks, Emptiness<1, 4, 1>, 8 * KiB>;

TEST(HoardOwner, HasNoOwnerTagAndNoOwner) {
    const Plain owner;
    OwnerTag words[2];
    std::memcpy(words, &owner, sizeof words);
    EXPECT_EQ(words[0], noOwnerTag);
    EXPECT_EQ(words[1], 0U) << "nobody's";
    EXPECT_FALSE(isThreadTag(owner.served)) << "nor does it keep anything for a thread";
}

TEST(HoardOwner, IsZeroBytesUntilItIsUsed) {
    static constinit Plain owner;
    unsigned char bytes[sizeof owner];
    std::memcpy(bytes, &owner, sizeof bytes);
    for (const unsigned char byte : bytes) {
        ASSERT_EQ(byte, 0U) << "it would have a place in the library's file";
    }
}

TEST(HoardOwner, ServesTheThreadOfItsTag) {
    Plain owner;
    EXPECT_EQ(owner.served, keyOfSharedHeap(0));
    for (const OwnerTag key : {keyOfThread(1), keyOfSharedHeap(7), keyOfSharedHeap(0)}) {
        owner.served = key;
        EXPECT_EQ(owner.served, key);
    }
}

static_assert(std::is_same_v<Plain::Mutex, FutexLock>, "counted only where a rule asks for it");

struct Owner {
    FutexLock lock;
    std::uint32_t heldByFork = 0;
};
using Owners = OwnerSet<Owner, 8>;

/// Whether another thread could take it.
bool isFree(Owner& owner) {
    bool taken = false;
    std::thread([&] {
        taken = owner.lock.tryLock();
        if (taken) {
            owner.lock.unlock();
        }
    }).join();
    return taken;
}

class OwnerSetTest : public ::testing::Test {
protected:
    void SetUp() override {
        owners_.add(5, five_);
        owners_.add(2, two_);
    }
    std::vector<Owner*> all() { return {&owners_.first(), &two_, &five_, &owners_.global()}; }
    void expectAllFree(bool expected) {
        for (Owner* const owner : all()) {
            EXPECT_EQ(isFree(*owner), expected);
        }
    }

    Owner two_;
    Owner five_;
    Owners owners_;
};

TEST_F(OwnerSetTest, FindsEnteredHeaps) {
    EXPECT_EQ(owners_.find(2), &two_);
    EXPECT_EQ(owners_.find(5), &five_);
    EXPECT_EQ(owners_.find(3), nullptr);
    std::vector<Owner*> seen;
    owners_.forEachHeap([&](Owner& owner) { seen.push_back(&owner); });
    EXPECT_EQ(seen, (std::vector<Owner*>{&owners_.first(), &two_, &five_}));
    owners_.clear();
    EXPECT_EQ(owners_.find(2), nullptr);
}

TEST_F(OwnerSetTest, HoldsEveryLockOverAFork) {
    owners_.beforeFork();
    expectAllFree(false);
    owners_.afterForkInParent();
    expectAllFree(true);
    owners_.beforeFork();
    owners_.afterForkInChild();
    expectAllFree(true);
}

TEST_F(OwnerSetTest, LeavesLocksThatTheThreadHolds) {
    std::thread([this] { // the process has more than one
        two_.lock.lock();
        owners_.beforeFork();
        expectAllFree(false);
        owners_.afterForkInParent();
        EXPECT_FALSE(isFree(two_));
        EXPECT_TRUE(isFree(five_));
        owners_.beforeFork();
        owners_.beforeFork(); // in a handler of the first
        owners_.afterForkInChild();
        EXPECT_FALSE(isFree(five_));
        owners_.afterForkInChild();
        EXPECT_TRUE(isFree(five_));
        EXPECT_FALSE(isFree(two_));
        two_.lock.unlock();
    })
        .join();
    expectAllFree(true);
}

} // namespace
} // namespace heapwright::testing
