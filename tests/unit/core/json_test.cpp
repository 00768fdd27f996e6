// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The output is JSON for any input.
#include <heapwright/core/json.hpp>

#include <gtest/gtest.h>
#include <limits>

namespace heapwright {
namespace {

TEST(Json, KeepsTheCommas) {
    Json json;
    json.beginObject().field("a", 1U).key("b").beginArray();
    json.value(0.5).value(true).null().beginObject().endObject().endArray();
    json.field("c", "text").secondsField("d", 1'500'000'000).endObject();
    EXPECT_EQ(json.text(), R"({"a":1,"b":[0.5,true,null,{}],"c":"text","d":1.5})");
}

TEST(Json, WritesNullForNoNumber) {
    Json json;
    json.beginArray().value(std::numeric_limits<double>::infinity());
    json.value(std::numeric_limits<double>::quiet_NaN()).value(1e300).endArray();
    EXPECT_EQ(json.text(), "[null,null,1e+300]");
}

TEST(Json, HasNumbersThatAreReadBackAsTheyWere) {
    Json json;
    json.beginArray().value(0.1).value(1.0 / 3.0).value(~std::uint64_t{0}).endArray();
    EXPECT_EQ(json.text(), "[0.1,0.3333333333333333,18446744073709551615]");
}

TEST(JsonText, EscapesControlCharactersAndQuotes) {
    EXPECT_EQ(jsonText(""), R"("")");
    EXPECT_EQ(jsonText("a\"\\\n\x7F"), R"("a\"\\\u000a\u007f")");
    EXPECT_EQ(jsonText(std::string_view("\0x", 2)), R"("\u0000x")");
}

TEST(JsonText, ReplacesBytesThatAreNoCharacter) {
    EXPECT_EQ(jsonText("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
              "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
    EXPECT_EQ(jsonText("\xFFx"), R"("\ufffdx")");
    EXPECT_EQ(jsonText("\xE2\x82"), R"("\ufffd\ufffd")");           // cut off
    EXPECT_EQ(jsonText("\xC0\x80"), R"("\ufffd\ufffd")");           // longer than it need be
    EXPECT_EQ(jsonText("\xED\xA0\x80"), R"("\ufffd\ufffd\ufffd")"); // half of a pair
    EXPECT_EQ(jsonText("\xF4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")"); // beyond the last
}

} // namespace
} // namespace heapwright
