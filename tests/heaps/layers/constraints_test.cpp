// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Stacks that look right and are wrong do not exist. A heap's statement about itself reaches
// through the layers on it, and stops where a layer makes it void. The pairs show that what is
// allowed works; this, that what would not work is not allowed.
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

template <template <class> class Layer, class H>
constexpr bool stands = requires { typename Layer<H>; };

template <class S>
using Checked = CheckedHeap<S>;
template <class S>
using Aligned = AlignHeap<S>;
template <class S>
using Coalescing = CoalesceHeap<4 * KiB, CoalesceableHeap<S>>;
template <class S>
using Listed = FreelistHeap<S>;
template <class S>
using Selected = SelectMmapHeap<FixedLimit<2000>, MmapHeap, S>;
template <class S>
using Direct = SelectMmapHeap<FixedLimit<2000>, S, Blocks>;
template <class S>
using Classed = StrictSegHeap<PowerOfTwo<4>, S, Tagged>;

TEST(Constraints, ATagIsCheckedOnce) {
    using Once = CheckedHeap<Tagged>;
    EXPECT_FALSE((stands<Checked, Once>));
    EXPECT_FALSE((stands<Checked, LockedHeap<FutexLock, Once>>));
    EXPECT_TRUE((stands<Checked, SizeHeap<Once>>)) << "a new tag before the old one";
}

TEST(Constraints, AListForAnyRequestReceivesOneSize) {
    using List = FreelistHeap<Tagged>;
    EXPECT_TRUE(uniformHeap<List>);
    EXPECT_TRUE((uniformHeap<LockedHeap<FutexLock, SizeHeap<List>>>));
    EXPECT_FALSE((stands<Aligned, List>));
    EXPECT_FALSE((stands<Coalescing, List>));
    EXPECT_FALSE((stands<Coalescing, LockedHeap<FutexLock, List>>));
    EXPECT_FALSE(uniformHeap<Powers>) << "a list for each class";
}

TEST(Constraints, FreelistRejectsAStackHeapBelow) {
    using Stacked = ObstackHeap<4 * KiB, CountingHeap>;
    EXPECT_TRUE((stackHeap<LockedHeap<FutexLock, SizeHeap<Stacked>>>));
    EXPECT_FALSE((stands<Listed, Stacked>));
    EXPECT_FALSE((stands<Listed, LockedHeap<FutexLock, Stacked>>));
}

TEST(Constraints, OnlyOneHeapUsesTheFlagOfLargeObjects) {
    EXPECT_TRUE((stands<Selected, Blocks>));
    EXPECT_FALSE((stands<Selected, MmapHeap>));
    EXPECT_FALSE((stands<Selected, CheckedHeap<MmapHeap>>));
    EXPECT_FALSE((stands<Selected, Mapped>)) << "some of its objects have the flag";
    EXPECT_TRUE((stands<Direct, CheckedHeap<MmapHeap>>));
    EXPECT_FALSE((stands<Direct, Blocks>));
}

TEST(Constraints, ClassHeapMustBeAListOverNullHeap) {
    EXPECT_TRUE((stands<Classed, FreelistHeap<NullHeap>>));
    EXPECT_FALSE((stands<Classed, FreelistHeap<CountingHeap>>));
    EXPECT_FALSE((stands<Classed, Blocks>));
}

/// What lists upon lists hand out again is live for the check above them.
using Twice = StrictSegHeap<PowerOfTwo<4>, Nothing, Powers>;
using Rechecked = Stacks<Stack<CheckedHeap<Twice>>, OneSize<CheckedHeap<FreelistHeap<Tagged>>>,
                         Stack<CheckedHeap<SizeHeap<CheckedHeap<Powers>>>>>;
INSTANTIATE_TEST_SUITE_P(Rechecked, LayerStack, ::testing::ValuesIn(Rechecked::tables()));

} // namespace
} // namespace heapwright::testing
