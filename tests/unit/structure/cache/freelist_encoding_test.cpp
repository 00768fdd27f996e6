// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/cache/freelist_encoding.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <set>

namespace heapwright::testing {
namespace {

struct alignas(minAlignment) Object {
    ObjectLink link{nullptr};
};

template <class Encoding>
class Code : public ::testing::Test {
protected:
    void SetUp() override { Encoding::prepare(); }
    std::array<Object, 64> objects_{};
};

using Codes = ::testing::Types<PlainFreelist, EncodedFreelist>;
TYPED_TEST_SUITE(Code, Codes);

TYPED_TEST(Code, DecodesEveryEncodedLink) {
    for (Object& at : this->objects_) {
        for (Object& next : this->objects_) {
            ObjectLink* const stored = TypeParam::encode(&next.link, &at);
            EXPECT_EQ(TypeParam::decode(stored, &at), &next.link);
        }
        EXPECT_EQ(TypeParam::decode(TypeParam::encode(nullptr, &at), &at), nullptr);
    }
}

TEST(EncodedFreelist, ShowsNoAddressAndNotTheSameWordTwice) {
    EncodedFreelist::prepare();
    std::array<Object, 64> objects{};
    std::set<ObjectLink*> words;
    for (const Object& at : objects) {
        ObjectLink* const word = EncodedFreelist::encode(&objects[0].link, &at);
        EXPECT_NE(word, &objects[0].link);
        words.insert(word);
        words.insert(EncodedFreelist::encode(nullptr, &at));
    }
    EXPECT_EQ(words.size(), 128U);
    EXPECT_EQ(words.count(nullptr), 0U);
}

TEST(EncodedFreelist, KeepsItsSecretsOncePrepared) {
    EncodedFreelist::prepare();
    Object at;
    Object next;
    ObjectLink* const before = EncodedFreelist::encode(&next.link, &at);
    EncodedFreelist::prepare();
    EXPECT_EQ(EncodedFreelist::encode(&next.link, &at), before);
}

TEST(EncodedFreelistDeathTest, RefusesAnOverwrittenLink) {
    EncodedFreelist::prepare();
    Object at;
    Object next;
    ObjectLink* const good = EncodedFreelist::encode(&next.link, &at);
    const auto decoded = [&at](ObjectLink* word) {
        at.link.next = EncodedFreelist::decode(word, &at);
    };
    // One in 2^17 of such words would pass, so of several that one program writes one is seen.
    const auto all = [&](auto word) {
        for (std::uint64_t each = 1; each <= 8; ++each) {
            decoded(static_cast<ObjectLink*>(pointerTo(word(each))));
        }
    };
    EXPECT_DEATH(all([](std::uint64_t) { return std::uint64_t{0}; }),
                 "malloc\\(\\): corrupted link");
    EXPECT_DEATH(all([&](std::uint64_t each) { return addressOf(good) ^ each; }), "corrupted link");
    EXPECT_DEATH(decoded(static_cast<ObjectLink*>(pointerTo(addressOf(good) ^ (1ULL << 63U)))),
                 "corrupted link");
    EXPECT_DEATH(all([&](std::uint64_t each) { return addressOf(&next) + 16 * each; }),
                 "corrupted link");
}

TEST(EncodedFreelistDeathTest, RefusesAMovedLink) {
    EncodedFreelist::prepare();
    std::array<Object, 8> objects{};
    ObjectLink* const stored = EncodedFreelist::encode(&objects[0].link, &objects[1]);
    const auto decoded = [&] {
        for (std::size_t other = 2; other < objects.size(); ++other) {
            objects[other].link.next = EncodedFreelist::decode(stored, &objects[other]);
        }
    };
    EXPECT_DEATH(decoded(), "malloc\\(\\): corrupted link");
}

} // namespace
} // namespace heapwright::testing
