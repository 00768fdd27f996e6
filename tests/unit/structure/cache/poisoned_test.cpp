// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/cache/poisoned.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

TEST(Poisoned, IsNoneAtFirst) {
    EXPECT_TRUE(Poisoned().isNone());
    EXPECT_EQ(Poisoned().size(), 0U);
    EXPECT_EQ(Poisoned().object(), nullptr);
}

TEST(Poisoned, FillsTheWholeWordsOfAnObject) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{31},
                                   std::size_t{4096}, Poisoned::largest}) {
        std::vector<unsigned char> memory(size + 8, 0x11);
        const Poisoned object(memory.data(), size);
        EXPECT_FALSE(object.isNone());
        EXPECT_EQ(object.object(), memory.data());
        EXPECT_EQ(object.size(), size / 8 * 8);
        EXPECT_EQ(Poisoned::looksSo(memory.data(), size), size >= 8);
        for (std::size_t at = 0; at < memory.size(); ++at) {
            EXPECT_EQ(memory[at], at < size / 8 * 8 ? Poisoned::poison : 0x11);
        }
    }
}

TEST(Poisoned, SeesEveryByteThatIsWritten) {
    unsigned char memory[40];
    const Poisoned object(memory, sizeof memory);
    EXPECT_TRUE(object.isIntact());
    for (unsigned char& byte : memory) {
        byte ^= 1U;
        EXPECT_FALSE(object.isIntact());
        byte ^= 1U;
    }
    EXPECT_TRUE(object.isIntact());
    object.unmark();
    EXPECT_FALSE(object.isIntact());
    EXPECT_FALSE(Poisoned::looksSo(memory, sizeof memory));
}

TEST(Poisoned, SeesNothingWhereThereIsNoWholeWord) {
    unsigned char memory[8] = {};
    const Poisoned object(memory, 7);
    memory[0] ^= 1U;
    EXPECT_TRUE(object.isIntact());
    object.unmark();
    EXPECT_EQ(memory[0], 1U);
}

TEST(Poisoned, SeenInReturnsTheStoredRange) {
    std::vector<unsigned char> memory(64);
    const Poisoned place(memory.data(), memory.size());
    EXPECT_EQ(Poisoned::seenIn(place).object(), memory.data());
    EXPECT_EQ(Poisoned::seenIn(place).size(), 64U);
    EXPECT_TRUE(Poisoned::seenIn(Poisoned()).isNone());
}

} // namespace
} // namespace heapwright::testing
