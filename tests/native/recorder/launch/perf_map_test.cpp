// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The names of compiled code, out of the text that a process has written.
#include "recorder/launch/perf_map.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>

namespace heapwright::recorder::launch::test {
namespace {

std::vector<MappedCode> read(const std::string& text, const std::vector<std::uint64_t>& addresses) {
    std::FILE* const file = std::tmpfile();
    std::fwrite(text.data(), 1, text.size(), file);
    std::rewind(file);
    std::vector<MappedCode> found = readPerfMap(file, addresses);
    std::fclose(file);
    return found;
}

TEST(PerfMap, NamesTheFunctionsThatAddressesLieIn) {
    const auto found = read("1000 100 first one\n"
                            "0x2000 0x10 second\n"
                            "3000 10 nothing asks for this\n",
                            {0x1000, 0x10FF, 0x1100, 0x200F, 0x2010});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].name, "first one");
    EXPECT_EQ(found[0].begin, 0x1000U);
    EXPECT_EQ(found[0].end, 0x1100U);
    EXPECT_EQ(found[1].name, "second");
}

TEST(PerfMap, TheLastOfSeveralFunctionsAtAnAddressCounts) {
    const auto found = read("1000 100 old\n1080 40 new\n", {0x1010, 0x1090, 0x10F0});
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].name, "old");
    EXPECT_LE(found[0].end, 0x1090U);
    EXPECT_EQ(found[1].name, "new");
    EXPECT_EQ(found[2].name, "old");
    EXPECT_LE(found[2].begin, 0x10F0U);
    EXPECT_GE(found[2].begin, found[1].end);
}

TEST(PerfMap, SkipsDamagedLines) {
    const std::string tooLong(10000, 'x');
    const auto found = read("\n"
                            "1000\n"
                            "1000 100\n"
                            "1000 100 \n"
                            "zzzz 100 no number\n"
                            "1000 0 empty\n"
                            "fffffffffffffffff 10 too large\n"
                            "1000 ffffffffffffff too long\n"
                            "-10 5000 negative\n" +
                                tooLong + "\n1000 20 " + tooLong + "\n" + std::string(3, '\0') +
                                "\n1000 8 without an end",
                            {0x1004, 0x1010});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].name, "without an end");
    EXPECT_EQ(found[1].name, std::string(1024, 'x'));
}

TEST(PerfMap, ReadsNoise) {
    std::mt19937_64 random{20261127};
    for (int round = 0; round < 300; ++round) {
        std::string text(random() % 2000, '\0');
        for (char& byte : text) {
            constexpr char usual[] = "0123456789abcdefx \n";
            byte = random() % 8 == 0 ? static_cast<char>(random())
                                     : usual[random() % (sizeof usual - 1)];
        }
        std::uint64_t last = 0;
        for (const MappedCode& code : read(text, {0x1, 0x10, 0x100, 0x12345, 0xABCDEF})) {
            EXPECT_LT(code.begin, code.end);
            EXPECT_GE(code.begin, last);
            last = code.end;
        }
    }
}

TEST(PerfMap, KeepsFewOfAMillionLines) {
    std::string text;
    text.reserve(std::size_t{40} << 20U);
    char line[64];
    for (unsigned i = 0; i < 1'000'000; ++i) {
        std::snprintf(line, sizeof line, "%x 40 function_%u\n", 0x10000000 + i * 0x40, i);
        text += line;
    }
    const auto found = read(
        text, {0x10000000, 0x10000000 + 500'000 * 0x40 + 7, 0x10000000 + 999'999 * 0x40 + 0x3F});
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].name, "function_0");
    EXPECT_EQ(found[1].name, "function_500000");
    EXPECT_EQ(found[2].name, "function_999999");
}

} // namespace
} // namespace heapwright::recorder::launch::test
