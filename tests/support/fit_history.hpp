// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Random histories of a policy that serves the smallest block that fits, against an ordered set.
#pragma once

#include <support/block_shelf.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace heapwright::testing {

/// Adds, removes and takes blocks of `smallest` bytes and 16 more each, of a number of sizes.
/// `Model` is a set of what `keyOf` makes of a block, in the order in which the policy serves.
/// Returns what waits in the end.
template <class Model, class Policy, class Key>
Model runFitHistory(Policy& policy, BlockShelf& shelf, std::uint32_t seed, std::size_t smallest,
                    std::size_t sizes, Key keyOf) {
    constexpr std::size_t count = 500;
    std::vector<Block*> in(count, nullptr);
    Model model;
    std::mt19937 random(seed);
    for (int step = 0; step < 20'000; ++step) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ", step " << step);
        const std::size_t place = random() % count;
        const std::size_t size = smallest + random() % sizes * 16;
        if (random() % 3 == 0) {
            Block* const found = policy.takeFit(size);
            const auto best = model.lower_bound(keyOf(size, nullptr));
            EXPECT_EQ(found != nullptr, best != model.end());
            if (found == nullptr || best == model.end()) {
                continue;
            }
            EXPECT_EQ(keyOf(found->size(), found), *best);
            model.erase(best);
            for (Block*& block : in) {
                block = block == found ? nullptr : block;
            }
        } else if (in[place] == nullptr) {
            in[place] = shelf.at(place, size);
            policy.add(in[place]);
            model.insert(keyOf(size, in[place]));
        } else {
            policy.remove(in[place]);
            model.erase(model.find(keyOf(in[place]->size(), in[place])));
            in[place] = nullptr;
        }
    }
    return model;
}

} // namespace heapwright::testing
