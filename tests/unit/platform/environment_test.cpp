// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/environment.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>

namespace heapwright::testing {
namespace {

/// Hides the environment as it is hidden before the C library is ready.
class Hidden {
public:
    Hidden() : texts_(environ) { environ = nullptr; }
    Hidden(const Hidden&) = delete;
    Hidden& operator=(const Hidden&) = delete;
    ~Hidden() { environ = texts_; }

private:
    char** texts_;
};

TEST(Environment, IsTheEnvironOfTheCLibrary) {
    EXPECT_EQ(platform::environmentTexts(), environ);
}

TEST(Environment, IsFoundOnTheStackBefore) {
    char** const known = environ;
    char** found = nullptr;
    {
        const Hidden hidden;
        found = platform::environmentTexts();
    }
    ASSERT_NE(found, nullptr);
    // The starter of the tests sets PATH, and nothing here has changed it.
    EXPECT_EQ(platform::variableIn(found, "PATH"), platform::variableIn(known, "PATH"));
    EXPECT_FALSE(platform::variableIn(found, "PATH").empty());
}

TEST(Environment, IsSearchedForWholeNames) {
    std::string one = "NAME=a=b";
    std::string two = "NAMES=c";
    std::string three = "EMPTY=";
    std::array<char*, 4> texts = {one.data(), two.data(), three.data(), nullptr};
    EXPECT_EQ(platform::variableIn(texts.data(), "NAME"), "a=b");
    EXPECT_EQ(platform::variableIn(texts.data(), "NAMES"), "c");
    EXPECT_EQ(platform::variableIn(texts.data(), "NAM"), "");
    EXPECT_EQ(platform::variableIn(texts.data(), "EMPTY"), "");
    EXPECT_EQ(platform::variableIn(nullptr, "NAME"), "");
}

TEST(Environment, IsTrustedByAnOrdinaryProgram) {
    EXPECT_FALSE(platform::runsSecurely());
}

} // namespace
} // namespace heapwright::testing
