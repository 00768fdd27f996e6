// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/list/dictionary.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

template <bool BySize>
struct Complete {
    static constexpr std::size_t leastObject = 8;
    static constexpr bool bySize = BySize;
    void insert(void*, std::size_t) {}
    void* take(std::size_t) { return nullptr; }
    void remove(void*) {}
    void clear() {}
    [[nodiscard]] std::size_t count() const { return 0; }
};
struct Counting : Complete<true> {
    [[nodiscard]] std::size_t bytes() const { return 0; }
};

TEST(Dictionary, SizedDictionaryNeedsSizesAndTheirSum) {
    EXPECT_TRUE(Dictionary<Complete<false>>);
    EXPECT_FALSE(Dictionary<Complete<true>>) << "who knows the sizes has their sum";
    EXPECT_TRUE(Dictionary<Counting>);
    EXPECT_TRUE(SizedDictionary<Counting>);
    EXPECT_FALSE(SizedDictionary<Complete<false>>);
    EXPECT_FALSE(Dictionary<int>);
}

} // namespace
} // namespace heapwright::testing
