// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/random.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace heapwright::testing {
namespace {

TEST(RandomBits, DoNotRepeat) {
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 100; ++i) {
        seen.insert(platform::randomBits());
    }
    EXPECT_EQ(seen.size(), 100U);
}

TEST(RandomBits, EveryBitIsSetAndClearSometimes) {
    std::uint64_t everSet = 0;
    std::uint64_t everClear = 0;
    for (int i = 0; i < 200; ++i) { // a bit that stays by chance: once in 2^199 runs
        const std::uint64_t bits = platform::randomBits();
        everSet |= bits;
        everClear |= ~bits;
    }
    EXPECT_EQ(everSet, ~std::uint64_t{0});
    EXPECT_EQ(everClear, ~std::uint64_t{0});
}

TEST(RandomBits, KeepErrno) {
    errno = EXDEV;
    static_cast<void>(platform::randomBits());
    EXPECT_EQ(errno, EXDEV);
}

TEST(RandomBits, AreNotACancellationPoint) {
    pthread_t thread{};
    bool drawn = false;
    const auto run = [](void* told) -> void* {
        ::pthread_cancel(::pthread_self());
        static_cast<void>(platform::randomBits());
        *static_cast<bool*>(told) = true;
        ::pthread_testcancel();
        return nullptr;
    };
    ASSERT_EQ(::pthread_create(&thread, nullptr, run, &drawn), 0);
    void* end = nullptr;
    ::pthread_join(thread, &end);
    EXPECT_TRUE(drawn);
    EXPECT_EQ(end, PTHREAD_CANCELED) << "but it was to be";
}

} // namespace
} // namespace heapwright::testing
