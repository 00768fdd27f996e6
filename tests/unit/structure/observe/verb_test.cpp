// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/observe/verb.hpp>

#include <gtest/gtest.h>

#include <set>

namespace heapwright::testing {
namespace {

TEST(Verb, HasTheNameOfTheContract) {
    EXPECT_EQ(nameOf(Verb::malloc), "malloc");
    EXPECT_EQ(nameOf(Verb::getSize), "getSize");
    EXPECT_EQ(nameOf(Verb::memalignHeld), "memalignHeld");
    EXPECT_EQ(nameOf(Verb::trim), "trim");
}

TEST(Verb, EachHasANameAndAPlaceOfItsOwn) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < verbCount; ++i) {
        const Verb verb{static_cast<std::uint8_t>(i)};
        EXPECT_EQ(indexOf(verb), i);
        EXPECT_FALSE(nameOf(verb).empty());
        names.insert(nameOf(verb));
    }
    EXPECT_EQ(names.size(), verbCount);
    EXPECT_EQ(indexOf(Verb::trim), verbCount - 1) << "the last one";
}

} // namespace
} // namespace heapwright::testing
