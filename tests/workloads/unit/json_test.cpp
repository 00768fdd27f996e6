// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the parser of documents takes for JSON, and what comes out of it when it has been tidied.
#include <regions/json_tree.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heapwright::workloads {
namespace {

/// What is written of a text; empty if it is no JSON.
template <class Arena>
std::string tidied(const std::string& text) {
    Arena arena;
    Arena scratch(arena);
    Growing<Arena> out(scratch);
    Names<Arena> names(arena);
    json::Parser<Arena> parser(arena, scratch, names);
    json::Tree<Arena> tree(arena);
    json::Value* const value = parser.parse(text.data(), text.size());
    if (value != nullptr) {
        tree.tidy(value);
        tree.write(value, out);
        if constexpr (!Arena::bulk) {
            json::freeTree(arena, value);
        }
    }
    if constexpr (!Arena::bulk) {
        names.freeAll();
    }
    return {out.text() == nullptr ? "" : out.text(), out.length()};
}

template <class Arena>
class Json : public testing::Test {
protected:
    void SetUp() override { calls = systemCalls; }
};
using Arenas = testing::Types<GeneralArena, RegionArena, ReapArena, UnfreedReapArena, EmulatedArena,
                              EmulatedReapArena>;
TYPED_TEST_SUITE(Json, Arenas, );

TYPED_TEST(Json, IsWrittenAsItWasReadButForBlanks) {
    for (const char* text : {"{}", "[]", "null", "true", "[false,-1.50,\"\"]", "0",
                             R"({"a":{"b":[[],{"c":"d"}]},"e":12.34})", R"(["a\nb","\"\\"])"}) {
        EXPECT_EQ(tidied<TypeParam>(text), text);
    }
    EXPECT_EQ(tidied<TypeParam>(" { \"a\" :\n[ 1 , 2.50 ]\t} "), R"({"a":[1,2.50]})");
    EXPECT_EQ(tidied<TypeParam>(R"("\u00e9\u20ac\u0041")"), "\"\xC3\xA9\xE2\x82\xAC"
                                                            "A\"");
}

TYPED_TEST(Json, IsTidied) {
    EXPECT_EQ(tidied<TypeParam>(R"({"a":null,"b":[null],"c":null})"), R"({"b":[null]})");
    EXPECT_EQ(tidied<TypeParam>("[1,2,3,4.25]"), "10.25");
    EXPECT_EQ(tidied<TypeParam>("[[1,2,3,-7],2,3,4]"), "8");
    EXPECT_EQ(tidied<TypeParam>(R"(["a  "," "])"), R"(["a",""])");
}

TYPED_TEST(Json, IsNotAnythingElse) {
    for (const char* text :
         {"", " ", "{", "[", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "[1 2]", "nul", "1 2", "\"",
          R"("\x")", R"("\u12")", R"("\u12g4")", "\"\\", "-", "[1]]", "{\"a\":1,}"}) {
        EXPECT_EQ(tidied<TypeParam>(text), "") << text;
    }
    EXPECT_EQ(tidied<TypeParam>(std::string(100'000, '[')), "");
    EXPECT_EQ(tidied<TypeParam>(std::string("\0", 1)), "");
}

} // namespace
} // namespace heapwright::workloads
