// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/map/life_bits.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Bits = LifeBits<16>;

const void* at(Address address) {
    return pointerTo(address);
}

TEST(LifeBits, DistinguishFreedFromNeverLive) {
    Bits bits;
    EXPECT_EQ(bits.at(at(0x1000)), Life::none) << "there is not even a middle";
    EXPECT_EQ(bits.leave(at(0x1000)), Life::none);
    EXPECT_EQ(bits.enter(at(0x1000)), Life::unknown) << "it has no bits yet";
    EXPECT_EQ(bits.at(at(0x1000)), Life::none);
    ASSERT_TRUE(bits.ensure(at(0x1000)));
    EXPECT_EQ(bits.enter(at(0x1000)), Life::none);
    EXPECT_EQ(bits.at(at(0x1000)), Life::live);
    EXPECT_EQ(bits.at(at(0x1010)), Life::none);
    EXPECT_EQ(bits.at(at(0x0FF0)), Life::none);
    EXPECT_EQ(bits.leave(at(0x1000)), Life::live);
    EXPECT_EQ(bits.at(at(0x1000)), Life::freed);
    EXPECT_EQ(bits.enter(at(0x1000)), Life::freed);
    EXPECT_EQ(bits.at(at(0x1000)), Life::live);
    EXPECT_EQ(bits.enter(at(0x1000)), Life::live) << "it is entered twice";
    EXPECT_EQ(bits.at(at(0x1000)), Life::live) << "which changes nothing";
}

TEST(LifeBits, KeepNeighboursApart) {
    Bits bits;
    for (Address address = 0x7000'0000; address < 0x7000'0000 + 16 * 256; address += 16) {
        ASSERT_TRUE(bits.ensure(at(address)));
        EXPECT_EQ(bits.enter(at(address)), Life::none);
    }
    for (Address address = 0x7000'0000; address < 0x7000'0000 + 16 * 256; address += 32) {
        EXPECT_EQ(bits.leave(at(address)), Life::live);
    }
    for (Address address = 0x7000'0000; address < 0x7000'0000 + 16 * 256; address += 16) {
        EXPECT_EQ(bits.at(at(address)), address % 32 == 0 ? Life::freed : Life::live);
    }
}

TEST(LifeBits, KnowNothingInsideAGranule) {
    Bits bits;
    ASSERT_TRUE(bits.ensure(at(0x1000)));
    EXPECT_EQ(bits.enter(at(0x1000)), Life::none);
    for (Address address = 0x1001; address < 0x1010; ++address) {
        EXPECT_EQ(bits.at(at(address)), Life::none);
        EXPECT_EQ(bits.leave(at(address)), Life::none);
    }
    EXPECT_EQ(bits.at(at(0x1000)), Life::live);
    bits.passAllNear(at(0x1000 + Bits::leafSpan));
    EXPECT_EQ(bits.at(at(0x1001 + Bits::leafSpan)), Life::none) << "not even without memory";
}

TEST(LifeBits, ReachTheWholeAddressSpaceAndNoFurther) {
    Bits bits;
    const Address last = (Address{1} << 47U) - 16;
    for (const Address address : {Address{16}, Bits::leafSpan - 16, Bits::leafSpan, last}) {
        ASSERT_TRUE(bits.ensure(at(address)));
        EXPECT_EQ(bits.enter(at(address)), Life::none);
        EXPECT_EQ(bits.at(at(address)), Life::live);
    }
    EXPECT_FALSE(bits.ensure(at(last + 16)));
    EXPECT_EQ(bits.at(at(last + 16)), Life::none);
    EXPECT_EQ(bits.leave(at(~Address{15})), Life::none);
}

TEST(LifeBits, AreGoneWhenTheyAreCleared) {
    Bits bits;
    ASSERT_TRUE(bits.ensure(at(0x1000)));
    bits.enter(at(0x1000));
    bits.clear();
    EXPECT_EQ(bits.at(at(0x1000)), Life::none);
    ASSERT_TRUE(bits.ensure(at(0x1000)));
    EXPECT_EQ(bits.enter(at(0x1000)), Life::none);
}

TEST(LifeBits, NameAllThatAreLive) {
    Bits bits;
    bits.forEachLive([](const void* /*object*/) { FAIL() << "there is none"; });
    std::vector<const void*> wanted;
    for (const Address address :
         {Address{16}, Address{0x200}, Bits::leafSpan - 16, Bits::leafSpan, 9 * Bits::leafSpan}) {
        for (const Address near : {address, address + 32}) {
            ASSERT_TRUE(bits.ensure(at(near)));
            bits.enter(at(near));
        }
        bits.leave(at(address + 32));
        wanted.push_back(at(address));
    }
    std::vector<const void*> found;
    bits.forEachLive([&found](const void* object) { found.push_back(object); });
    EXPECT_EQ(found, wanted);
}

TEST(LifeBits, AcceptEveryAddressOfALeafWithoutMemory) {
    Bits bits;
    ASSERT_TRUE(bits.ensure(at(0x1000)));
    const Address far = 4 * Bits::leafSpan;
    bits.passAllNear(at(far));
    EXPECT_TRUE(bits.ensure(at(far)));
    EXPECT_EQ(bits.enter(at(far)), Life::unknown);
    EXPECT_EQ(bits.leave(at(far)), Life::live);
    EXPECT_EQ(bits.leave(at(far + 32)), Life::live);
    EXPECT_EQ(bits.at(at(far - 16)), Life::none) << "that is another leaf's";
    bits.clear();
    EXPECT_EQ(bits.at(at(far)), Life::none);
}

TEST(LifeBits, AcceptMoreAddressesWithoutMemoryForAnInnerNode) {
    Bits bits;
    const Address far = Address{1} << 46U;
    bits.passAllNear(at(far));
    EXPECT_TRUE(bits.ensure(at(far + Bits::leafSpan)));
    EXPECT_EQ(bits.enter(at(far + Bits::leafSpan)), Life::unknown);
    EXPECT_EQ(bits.leave(at(far + Bits::leafSpan)), Life::live);
    EXPECT_EQ(bits.at(at(far - 16)), Life::none);
    bits.clear();
    EXPECT_EQ(bits.at(at(far)), Life::none);
}

/// Pages of addresses that this process has.
std::size_t pagesOfAddresses() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages;
}

TEST(LifeBits, TakeFewAddressesForAnySpan) {
    Bits bits;
    static_cast<void>(pagesOfAddresses()); // what the library needs for a file
    const std::size_t before = pagesOfAddresses();
    for (const Address address : {Address{16}, Address{1} << 44U, Address{1} << 46U}) {
        ASSERT_TRUE(bits.ensure(at(address)));
    }
    EXPECT_LE(pagesOfAddresses() - before, 3 * 2 * 64 * KiB / 4096);
}

TEST(LifeBits, AreRightForThreadsThatShareTheirWords) {
    Bits bits;
    constexpr int objects = 2000;
    for (int i = 0; i < objects; ++i) {
        ASSERT_TRUE(bits.ensure(at(0x10000 + 16 * static_cast<Address>(i))));
        bits.enter(at(0x10000 + 16 * static_cast<Address>(i)));
    }
    std::atomic<int> left{0};
    std::vector<std::thread> threads;
    for (int each = 0; each < 4; ++each) {
        threads.emplace_back([&, each] { // each in words that others change, too
            for (int i = each; i < objects; i += 4) {
                const void* const object = at(0x10000 + 16 * static_cast<Address>(i));
                if (bits.leave(object) == Life::live && bits.at(object) == Life::freed) {
                    left.fetch_add(1);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(left.load(), objects);
}

} // namespace
} // namespace heapwright::testing
