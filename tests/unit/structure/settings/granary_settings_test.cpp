// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/settings/granary_settings.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Settings = GranarySettings;
using Answer = GranarySettings::Answer;

class GranarySettingsTest : public ::testing::Test {
protected:
    GranarySettingsTest() {
        ::unsetenv(name);
        Settings::forget();
    }
    ~GranarySettingsTest() override {
        ::unsetenv(name);
        Settings::forget();
    }

    /// As a process sees it that is started with this text; what it says on stderr.
    static std::string startWith(const char* text) {
        ::setenv(name, text, 1);
        Settings::forget();
        ::testing::internal::CaptureStderr();
        Settings::readOnce();
        return ::testing::internal::GetCapturedStderr();
    }

    static std::string told(const char* setting) {
        return std::string(Settings::get(setting).value().view());
    }

    static constexpr const char* name = "HEAPWRIGHT_GRANARY";
};

TEST_F(GranarySettingsTest, HaveDefaults) {
    EXPECT_EQ(Settings::returnDelay(), 250U);
    EXPECT_EQ(Settings::background(), Settings::Background::automatic);
    EXPECT_TRUE(Settings::hugePages());
    EXPECT_FALSE(Settings::printsAtExit());
    EXPECT_EQ(Settings::format(), Settings::Format::table);
    EXPECT_EQ(Settings::printsOnSignal(), 0);
    EXPECT_EQ(Settings::target().view(), "stderr");
}

TEST_F(GranarySettingsTest, AreReadFromTheEnvironmentAtTheFirstUse) {
    EXPECT_EQ(startWith("return=2s, background=on,huge-pages=on,statistics=exit+signal:USR2,"
                        "format=json,to=/tmp/granary,guard=500+report"),
              "");
    EXPECT_EQ(Settings::returnDelay(), 2000U);
    EXPECT_EQ(Settings::background(), Settings::Background::on);
    EXPECT_TRUE(Settings::hugePages() && Settings::printsAtExit());
    EXPECT_EQ(Settings::format(), Settings::Format::json);
    EXPECT_EQ(Settings::printsOnSignal(), SIGUSR2);
    EXPECT_EQ(Settings::guardInterval(), 500U);
    EXPECT_TRUE(Settings::guardReports());
    EXPECT_EQ(Settings::target().view(), "/tmp/granary");
}

TEST_F(GranarySettingsTest, SampleOnlyFromTheStartOfTheProcess) {
    EXPECT_EQ(startWith("sample=512K"), "");
    EXPECT_EQ(Settings::sampleBytes(), 524288U);
    EXPECT_EQ(told("sample"), "512K");
    EXPECT_EQ(Settings::set("sample", "1M"), Answer::wrongValue);
    EXPECT_EQ(startWith("sample=1000"), "");
    EXPECT_EQ(told("sample"), "1000");
    EXPECT_NE(startWith("sample=0"), "");
    EXPECT_NE(startWith("sample=K"), "");
    EXPECT_EQ(Settings::sampleBytes(), 0U);
    EXPECT_EQ(told("sample"), "off");
}

TEST_F(GranarySettingsTest, AreReadOnce) {
    startWith("return=2s");
    EXPECT_EQ(Settings::set("return", "never"), Answer::set);
    ::setenv(name, "return=3s", 1);
    EXPECT_EQ(Settings::returnDelay(), purgeNever);
}

TEST_F(GranarySettingsTest, ReportAnErrorAndKeepTheOldValue) {
    EXPECT_EQ(startWith("return=2s,return=soon"),
              "heapwright: HEAPWRIGHT_GRANARY: return cannot be 'soon', only a time as 250ms or "
              "2s, at-once or never; it stays 2000ms\n");
    EXPECT_EQ(Settings::returnDelay(), 2000U);
}

TEST_F(GranarySettingsTest, ReportAnUnknownSetting) {
    EXPECT_EQ(startWith("retrun=2s"),
              "heapwright: HEAPWRIGHT_GRANARY: there is no setting 'retrun'; there are return, "
              "background, huge-pages, guard, sample, statistics, format, to\n");
    EXPECT_EQ(Settings::returnDelay(), 250U);
}

TEST_F(GranarySettingsTest, TakeTheOthersWhereOneIsWrong) {
    EXPECT_NE(startWith("format=xml,return=never,statistics=signal:KILL,background"), "");
    EXPECT_EQ(Settings::returnDelay(), purgeNever);
    EXPECT_EQ(Settings::format(), Settings::Format::table);
    EXPECT_EQ(Settings::background(), Settings::Background::automatic);
    EXPECT_EQ(Settings::printsOnSignal(), 0);
}

TEST_F(GranarySettingsTest, CannotBeFloodedFromOutside) {
    const std::string far(100'000, 'x');
    const std::string said = startWith((far + "=" + far + ",to=" + far).c_str());
    EXPECT_LT(said.size(), 1000U);
    EXPECT_EQ(Settings::target().view(), "stderr");
}

TEST_F(GranarySettingsTest, ReadBackTheValueThatWasSet) {
    for (const auto& [setting, value] :
         std::vector<std::pair<const char*, const char*>>{{"return", "at-once"},
                                                          {"return", "never"},
                                                          {"return", "10ms"},
                                                          {"background", "on"},
                                                          {"background", "off"},
                                                          {"background", "auto"},
                                                          {"huge-pages", "on"},
                                                          {"guard", "1000"},
                                                          {"guard", "25+report"},
                                                          {"guard", "off"},
                                                          {"statistics", "off"},
                                                          {"statistics", "exit"},
                                                          {"statistics", "signal:USR1"},
                                                          {"statistics", "exit+signal:USR2"},
                                                          {"format", "json"},
                                                          {"format", "table"},
                                                          {"to", "2"}}) {
        EXPECT_EQ(Settings::set(setting, value), Answer::set) << setting << value;
        EXPECT_EQ(told(setting), value);
    }
}

TEST_F(GranarySettingsTest, ForEachVisitsEverySetting) {
    std::string all;
    Settings::forEach([&all](std::string_view setting, const Settings::Text& value) {
        all.append(setting).append("=").append(value.view()).append(" ");
    });
    EXPECT_EQ(all, "return=250ms background=auto huge-pages=on guard=off sample=off statistics=off "
                   "format=table to=stderr ");
}

TEST_F(GranarySettingsTest, ChangeNothingWhereTheValueIsWrong) {
    for (const auto& [setting, value] :
         std::vector<std::pair<const char*, const char*>>{{"return", ""},
                                                          {"return", "-1ms"},
                                                          {"background", "yes"},
                                                          {"huge-pages", "ON"},
                                                          {"guard", "0"},
                                                          {"guard", ""},
                                                          {"guard", "+report"},
                                                          {"guard", "off+report"},
                                                          {"guard", "12x"},
                                                          {"guard", "1234567890"},
                                                          {"statistics", "exit+"},
                                                          {"statistics", "exit+off"},
                                                          {"statistics", "exits"},
                                                          {"statistics", "signal:"},
                                                          {"statistics", "signal:SEGV"},
                                                          {"format", ""},
                                                          {"to", ""}}) {
        const std::string before = told(setting);
        EXPECT_EQ(Settings::set(setting, value), Answer::wrongValue) << setting << value;
        EXPECT_EQ(told(setting), before);
    }
    EXPECT_EQ(Settings::set("colour", "on"), Answer::unknownName);
    EXPECT_FALSE(Settings::get("colour").has_value());
}

TEST_F(GranarySettingsTest, NotifyTheBackgroundThreadThatMemoryWaits) {
    static int first = 0;
    static int much = 0;
    Settings::setWaker([](bool isFirst, bool isMuch) noexcept {
        first += isFirst ? 1 : 0;
        much += isMuch ? 1 : 0;
    });
    EXPECT_EQ(Settings::set("background", "off"), Answer::set);
    Settings::memoryWaits(true, 1);
    EXPECT_EQ(first, 0);
    for (const char* value : {"auto", "on"}) {
        EXPECT_EQ(Settings::set("background", value), Answer::set);
        first = much = 0;
        Settings::memoryWaits(true, 1);
        Settings::memoryWaits(false, Settings::muchWaiting);
        Settings::memoryWaits(false, Settings::muchWaiting + 1);
        EXPECT_EQ(first, 1);
        EXPECT_EQ(much, 1);
    }
    Settings::setWaker(nullptr);
    Settings::memoryWaits(true, 1);
    EXPECT_EQ(first, 1);
}

TEST_F(GranarySettingsTest, MayBeSetAndReadByManyThreadsAtOnce) {
    const std::string one(200, 'a');
    const std::string other(100, 'b');
    std::vector<std::thread> threads;
    for (const std::string* value : {&one, &other}) {
        threads.emplace_back([value] {
            for (int i = 0; i < 1000; ++i) {
                EXPECT_EQ(Settings::set("to", *value), Answer::set);
            }
        });
        threads.emplace_back([&one, &other] {
            for (int i = 0; i < 1000; ++i) {
                const std::string seen(Settings::target().view());
                EXPECT_TRUE(seen == one || seen == other || seen == "stderr");
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

} // namespace
} // namespace heapwright::testing
