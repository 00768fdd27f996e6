// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/describe.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Bottom {
    static constexpr std::string_view caption = "ends \"here\"";
    using Below = Heaps<>;
};
struct Policy {};
template <class P, std::size_t Size, class First, class Second>
struct Fork {
    static constexpr std::string_view caption = "forks";
    using Below = Heaps<First, Second>;
};
template <std::size_t Count>
struct Classes {};
template <class P, class SuperHeap>
struct Rung {
    static constexpr std::string_view caption = "one rung";
    using Below = Heaps<SuperHeap>;
};

TEST(Describe, EscapesForJson) {
    EXPECT_EQ(describe<Bottom>(), R"({"layer":"Bottom","policies":[],)"
                                  R"("caption":"ends \"here\"","below":[]})");
}

TEST(Describe, NamesPoliciesButNotTheHeapsBelow) {
    EXPECT_EQ((describe<Rung<Policy, Bottom>>()),
              R"({"layer":"Rung","policies":["Policy"],"caption":"one rung","below":[)"
              R"({"layer":"Bottom","policies":[],"caption":"ends \"here\"","below":[]}]})");
}

TEST(Describe, WritesNumbersAsPeopleDo) {
    const std::string_view text =
        describe<Fork<Classes<29>, 131072, Bottom, Rung<Policy, Bottom>>>();
    EXPECT_NE(text.find(R"("policies":["Classes<29>","128 KiB"])"), std::string_view::npos) << text;
    EXPECT_NE((describe<Fork<Policy, 3 << 20, Bottom, Bottom>>()).find("\"3 MiB\""),
              std::string_view::npos);
    EXPECT_NE((describe<Fork<Policy, 1000, Bottom, Bottom>>()).find("\"1000\""),
              std::string_view::npos);
}

TEST(Describe, DrawsAllBranchesInOrder) {
    const std::string_view text = describe<Fork<Policy, 1, Rung<Policy, Bottom>, Bottom>>();
    const std::size_t first = text.find("\"Rung\"");
    EXPECT_NE(first, std::string_view::npos);
    EXPECT_NE(text.find("\"Bottom\"", text.find("\"Bottom\"") + 1), std::string_view::npos);
}

TEST(Describe, IsConstexprAndNullTerminated) {
    constexpr std::string_view text = describe<Bottom>();
    static_assert(text.size() > 10);
    EXPECT_EQ(text.data()[text.size()], '\0');
}

} // namespace
} // namespace heapwright::testing
