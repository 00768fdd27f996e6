// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/superblock/emptiness.hpp>
#include <heapwright/structure/superblock/hoard_owner.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>

namespace heapwright::testing {
namespace {

struct Superblocks {
    int number = 0;
};
using Plain = HoardOwner<Superblocks, Emptiness<1, 4, 1>>;

TEST(HoardOwner, LooksLikeNoSuperblock) {
    const Plain owner;
    OwnerTag words[2];
    std::memcpy(words, &owner, sizeof words);
    EXPECT_EQ(words[0], noOwnerTag);
    EXPECT_EQ(words[1], 0U) << "nobody's";
    EXPECT_FALSE(isThreadTag(owner.tenant)) << "nor does it keep anything for a thread";
}

TEST(HoardOwner, IsZeroBytesUntilItIsUsed) {
    static constinit Plain owner;
    unsigned char bytes[sizeof owner];
    std::memcpy(bytes, &owner, sizeof bytes);
    for (const unsigned char byte : bytes) {
        ASSERT_EQ(byte, 0U) << "it would have a place in the library's file";
    }
}

TEST(HoardOwner, ServesWhomItIsLetTo) {
    Plain owner;
    EXPECT_EQ(owner.tenant, keyOfSharedHeap(0));
    for (const OwnerTag key : {keyOfThread(1), keyOfSharedHeap(7), keyOfSharedHeap(0)}) {
        owner.tenant = key;
        EXPECT_EQ(owner.tenant, key);
    }
}

static_assert(std::is_same_v<Plain::Mutex, FutexLock>, "counted only where a rule asks for it");

} // namespace
} // namespace heapwright::testing
