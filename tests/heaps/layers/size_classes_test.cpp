// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on strict segregated fits with every set of size classes.
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

template <class Classes>
using Classed = StrictSegHeap<Classes, Nothing, SizeHeap<ChunkHeap<64 * KiB, 8, CountingHeap>>>;

using AllClasses =
    Stacks<Stack<Classed<PowerOfTwo<8>>>, Stack<Classed<Exact<40>>>,
           Stack<Classed<FourPerDoubling<30>>>, Stack<Classed<PerDoubling<8, 20>>>,
           Stack<Classed<PerDoubling<1, 9>>>, Stack<Classed<Geometric<6, 5, 16, 40>>>,
           Stack<Classed<Geometric<3, 2, 48, 12>>>,
           Stack<Classed<FromList<32, 64, 256, 2048, 4112>>>, Stack<Classed<FromList<16>>>,
           Stack<CheckedHeap<Classed<FourPerDoubling<60>>>>,
           Stack<StrictSegHeap<AtLeast<24, FourPerDoubling<24>>, Nothing, Blocks>>,
           Stack<StrictSegHeap<FromList<48, 1024>, Nothing, RunBlocks>>>;
INSTANTIATE_TEST_SUITE_P(AllClasses, LayerStack, ::testing::ValuesIn(AllClasses::tables()));

} // namespace
} // namespace heapwright::testing
