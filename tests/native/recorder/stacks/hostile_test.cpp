// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Stacks and tables that lie: a chain may then be short or wrong, but it ends, and nothing is read
// that is not there.
#include "fake_host.hpp"
#include "recorder/stacks/cfi.hpp"
#include "recorder/stacks/row_cache.hpp"
#include "recorder/stacks/stack_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <sys/auxv.h>

namespace heapwright::recorder::stacks::test {
namespace {

class Hostile : public testing::Test {
protected:
    static void SetUpTestSuite() { begin(FakeHost::host()); }
    std::mt19937_64 random{20261122};
};

/// Pages of which the last is followed by one that cannot be read.
class Guarded {
public:
    static constexpr std::size_t bytes = 4 * 4096;

    Guarded() {
        pages_ = static_cast<char*>(::mmap(nullptr, bytes + 4096, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        ::mprotect(pages_ + bytes, 4096, PROT_NONE);
    }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;
    ~Guarded() { ::munmap(pages_, bytes + 4096); }

    std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(pages_); }
    static constexpr std::size_t count = bytes / 8;

private:
    char* pages_;
};

TEST_F(Hostile, StacksOfRandomWords) {
    Guarded stack;
    std::uint64_t* const words = stack.words();
    const auto code = reinterpret_cast<std::uint64_t>(&FakeHost::chain);
    for (int round = 0; round < 2000; ++round) {
        for (std::size_t i = 0; i < Guarded::count; ++i) {
            const std::uint64_t draw = random();
            const auto near = reinterpret_cast<std::uint64_t>(words + draw % (Guarded::count + 64));
            words[i] = draw % 3 == 0 ? near : draw % 3 == 1 ? code + draw % 100000 : draw;
        }
        capture(words + random() % (Guarded::count - 2));
    }
}

TEST_F(Hostile, AFramePointerThatLeadsToItself) {
    Guarded stack;
    std::uint64_t* const words = stack.words();
    const auto anywhere = reinterpret_cast<std::uint64_t>(words); // readable, in no object
    words[0] = anywhere;
    words[1] = anywhere + 100;
    capture(words);
    words[0] = anywhere + 16;
    words[2] = anywhere;
    words[3] = anywhere + 101;
    capture(words);
}

TEST_F(Hostile, TheLastWordsBeforeAPageThatCannotBeRead) {
    Guarded stack;
    std::uint64_t* const last = stack.words() + Guarded::count - 2;
    last[0] = reinterpret_cast<std::uint64_t>(last);
    last[1] = reinterpret_cast<std::uint64_t>(last);
    capture(last);
    EXPECT_EQ(capture(last + 1), noStack) << "the return address would lie beyond";
    EXPECT_EQ(capture(last + 2), noStack);
    EXPECT_EQ(capture(nullptr), noStack);
}

TEST_F(Hostile, ReadabilityIsQueriedWithoutAnAccess) {
    Guarded stack;
    EXPECT_TRUE(isReadable(reinterpret_cast<std::uint64_t>(stack.words())));
    EXPECT_FALSE(isReadable(reinterpret_cast<std::uint64_t>(stack.words() + Guarded::count)));
    EXPECT_FALSE(isReadable(0));
}

/// Every row that the real tables give can be written in 16 bits and read again.
TEST_F(Hostile, TablesWithFlippedBits) {
    Image image;
    ASSERT_TRUE(findImage(reinterpret_cast<std::uint64_t>(&::getauxval), image));
    ASSERT_NE(image.table, nullptr);
    const auto length = static_cast<std::size_t>(image.segmentEnd - image.segment);
    std::vector<std::uint8_t> copy(image.segment, image.segmentEnd);
    Image fake = image;
    fake.segment = copy.data();
    fake.segmentEnd = copy.data() + length;
    fake.table = copy.data() + (image.table - image.segment);
    const auto distance = reinterpret_cast<std::uint64_t>(fake.segment) -
                          reinterpret_cast<std::uint64_t>(image.segment);
    std::size_t found = 0;
    for (int round = 0; round < 200000; ++round) {
        if (round % 10 == 0) {
            const std::size_t at = random() % length;
            copy[at] = static_cast<std::uint8_t>(copy[at] ^ 1U << random() % 8);
        }
        const std::uint64_t address = image.begin + random() % (image.end - image.begin);
        found += findRow(fake, address + distance) ? 1U : 0U;
    }
    EXPECT_GT(found, 1000U);
}

TEST_F(Hostile, RowsComeBackFromTheirShortForms) {
    for (const Row row : {Row{Row::Base::stack, Row::Saved::same, 8, 0},
                          Row{Row::Base::stack, Row::Saved::atCfa, 32760, -56}, framePointerRow}) {
        const auto plain = shortened(row);
        ASSERT_TRUE(plain);
        EXPECT_EQ(offsetBytes(*plain), static_cast<std::uint64_t>(row.offset));
        EXPECT_EQ(usesFrame(*plain), row.base == Row::Base::frame);
    }
    for (const Row row : {Row{Row::Base::frameWord, Row::Saved::atFrame, -8, 0},
                          Row{Row::Base::stack, Row::Saved::lost, 1 << 20, -(1 << 26)},
                          Row{Row::Base::signal, Row::Saved::same, 0, 0}}) {
        EXPECT_FALSE(shortened(row));
        EXPECT_EQ(unpacked(packed(row)), row);
    }
    RowCache cache;
    ASSERT_TRUE(cache.begin({}));
    const Row odd{Row::Base::frameWord, Row::Saved::atFrame, -8, 0};
    const ShortRow number = cache.shorten(odd);
    EXPECT_EQ(savedWords(number), oddMark);
    EXPECT_EQ(cache.odd(number), odd);
    cache.add(0x7fff12345678, number);
    EXPECT_EQ(cache.find(0x7fff12345678), number);
    cache.clear();
    EXPECT_EQ(cache.find(0x7fff12345678), noRow);
}

} // namespace
} // namespace heapwright::recorder::stacks::test
