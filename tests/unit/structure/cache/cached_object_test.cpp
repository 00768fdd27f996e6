// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/cache/cached_object.hpp>

#include <gtest/gtest.h>

#include <array>

namespace heapwright::testing {
namespace {

struct alignas(16) Object {
    std::array<std::uint64_t, 8> words{};
};

TEST(CachedObject, IsRecognisedOnlyWithItsSecretAndKey) {
    constexpr std::uint64_t secret = 0x1234567890ABCDEF;
    std::array<Object, 2> objects;
    EXPECT_FALSE(CachedObject::waits(&objects[0], secret));
    CachedObject* const waiting = CachedObject::make(&objects[0], nullptr, secret, 64);
    EXPECT_TRUE(CachedObject::waits(&objects[0], secret));
    EXPECT_FALSE(CachedObject::waits(&objects[0], secret + 1)) << "another cache's";
    objects[1].words[1] = waiting->key;
    EXPECT_FALSE(CachedObject::waits(&objects[1], secret)) << "a copied key";
    EXPECT_EQ(CachedObject::wake(waiting, 64), &objects[0]);
    EXPECT_FALSE(CachedObject::waits(&objects[0], secret));
    objects[0].words.fill(7); // or AddressSanitizer reports that it has no owner
}

TEST(CachedObjectSecret, IsDrawnOnce) {
    CachedObjectSecret secret;
    EXPECT_EQ(secret.get(), 0U);
    secret.ensure();
    const std::uint64_t drawn = secret.get();
    EXPECT_NE(drawn, 0U);
    secret.ensure();
    EXPECT_EQ(secret.get(), drawn);
    CachedObjectSecret other;
    other.ensure();
    EXPECT_NE(other.get(), drawn);
}

TEST(CachedObjectSecretDeathTest, AbortsOnTheUseOfACachedObject) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    CachedObjectSecret secret;
    secret.ensure();
    Object object;
    secret.refuseWaiting(&object, "free");
    CachedObject* const waiting = CachedObject::make(&object, nullptr, secret.get(), 64);
    EXPECT_DEATH(secret.refuseWaiting(&object, "free"), "heapwright: free\\(\\): double free");
    EXPECT_DEATH(secret.refuseWaiting(&object, "realloc"),
                 "heapwright: realloc\\(\\): use of a freed object");
    CachedObject::wake(waiting, 64);
}

} // namespace
} // namespace heapwright::testing
