// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/immortal.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Mortal {
    constexpr Mortal() noexcept = default;
    ~Mortal() { ++deaths; }
    static inline int deaths = 0;
    int value = 3;
};

constinit Immortal<Mortal> global;

TEST(Immortal, IsThereWithoutCodeBeingRun) {
    EXPECT_EQ(global.object.value, 3);
}

TEST(Immortal, DoesNotDie) {
    {
        Immortal<Mortal> local;
        EXPECT_EQ(local.object.value, 3);
    }
    EXPECT_EQ(Mortal::deaths, 0);
}

} // namespace
} // namespace heapwright::testing
