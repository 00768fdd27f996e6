// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/settings/setting_text.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace heapwright::testing {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs apart(std::string_view text) {
    Pairs pairs;
    forEachSetting(text, [&pairs](const SettingText& setting) {
        pairs.emplace_back(setting.name, setting.value);
    });
    return pairs;
}

TEST(SettingText, IsTakenApartAtCommas) {
    EXPECT_EQ(apart("a=1,b=2"), (Pairs{{"a", "1"}, {"b", "2"}}));
    EXPECT_EQ(apart(" a = 1 ,\tb=2 3 "), (Pairs{{"a", "1"}, {"b", "2 3"}}));
    EXPECT_EQ(apart("a=b=c"), (Pairs{{"a", "b=c"}}));
}

TEST(SettingText, OmitsEmptySettingsButNotThoseWithoutAValue) {
    EXPECT_EQ(apart(""), Pairs{});
    EXPECT_EQ(apart(" ,, ,"), Pairs{});
    EXPECT_EQ(apart("a,b=,=c"), (Pairs{{"a", ""}, {"b", ""}, {"", "c"}}));
}

TEST(SettingText, KnowsTheWordsOfAChoice) {
    constexpr std::array<Choice<int>, 2> choices = {{{"one", 1}, {"two", 2}}};
    static_assert(chosen("two", choices) == 2);
    static_assert(!chosen("tw", choices));
    static_assert(!chosen("", choices));
}

TEST(SettingText, ReadsWholeNumbersThatFit) {
    static_assert(wholeNumber("0") == 0U);
    static_assert(wholeNumber("4294967295") == UINT32_MAX);
    static_assert(!wholeNumber("4294967296"));
    static_assert(!wholeNumber("99999999999999999999999999"));
    static_assert(!wholeNumber(""));
    static_assert(!wholeNumber("-1"));
    static_assert(!wholeNumber("1 "));
}

TEST(SettingText, ReadsTimesWithTheirUnit) {
    static_assert(milliseconds("250ms") == 250U);
    static_assert(milliseconds("0ms") == 0U);
    static_assert(milliseconds("2s") == 2000U);
    static_assert(milliseconds("5min") == 300'000U);
    static_assert(!milliseconds("250"));
    static_assert(!milliseconds("ms"));
    static_assert(!milliseconds("1.5s"));
    static_assert(!milliseconds("1 s"));
    static_assert(!milliseconds("1h"));
}

TEST(SettingText, RefusesTimesOfTheValueForNever) {
    static_assert(milliseconds("4294967294ms") == UINT32_MAX - 1);
    static_assert(!milliseconds("4294967295ms"));
    static_assert(!milliseconds("4294968s"));
}

TEST(SettingText, ReadsBytesWithTheirUnit) {
    static_assert(byteCount("1") == 1U);
    static_assert(byteCount("512K") == 512U << 10U);
    static_assert(byteCount("3G") == std::uint64_t{3} << 30U);
    static_assert(byteCount("8192T") == std::uint64_t{1} << 53U);
    static_assert(!byteCount("8193T"));
    static_assert(byteCount("8589934592") == byteCount("8G"));
    static_assert(byteCount("9007199254740992") == byteCount("8192T"));
    static_assert(!byteCount("9007199254740993"));
    static_assert(!byteCount("0"));
    static_assert(!byteCount("K"));
    static_assert(!byteCount("512k"));
    static_assert(!byteCount("1.5M"));
    static_assert(!byteCount(""));
}

} // namespace
} // namespace heapwright::testing
