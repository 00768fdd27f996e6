// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Random histories of a dictionary against a sorted set: what waits, how many, and that what is
// taken was waiting and is large enough.
#pragma once

#include <heapwright/structure/list/dictionary.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace heapwright::testing {

/// The objects of such a history: of mixed sizes, 16-aligned.
class ObjectPool {
public:
    struct alignas(16) Object {
        unsigned char bytes[64];
    };

    explicit ObjectPool(std::size_t count) : objects_(std::make_unique<Object[]>(count)) {}
    [[nodiscard]] void* at(std::size_t index) { return &objects_[index]; }

private:
    std::unique_ptr<Object[]> objects_;
};

template <Dictionary D>
void runDictionaryHistory(std::uint32_t seed) {
    constexpr std::size_t count = 100;
    std::mt19937 random(seed);
    ObjectPool pool(count);
    D waiting;
    std::map<void*, std::size_t> model; // what waits, and its size
    for (int step = 0; step < 5000; ++step) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ", step " << step);
        void* const object = pool.at(random() % count);
        const auto entry = model.find(object);
        if (entry == model.end()) {
            const std::size_t size = D::leastObject + random() % (64 - D::leastObject);
            waiting.insert(object, size);
            model.emplace(object, size);
        } else if (random() % 2 == 0) {
            waiting.remove(object);
            model.erase(entry);
        }
        if (random() % 3 == 0) {
            const std::size_t size = D::bySize ? random() % 70 : 0;
            void* const taken = waiting.take(size);
            if (taken == nullptr) {
                for (const auto& [left, bytes] : model) {
                    ASSERT_LT(bytes, size) << "one of these would have done";
                }
                ASSERT_TRUE(size > 0 || model.empty());
            } else {
                ASSERT_EQ(model.count(taken), 1U) << "it was not waiting";
                ASSERT_GE(model.at(taken), size);
                model.erase(taken);
            }
        }
        ASSERT_EQ(waiting.count(), model.size());
        if constexpr (D::bySize) {
            std::size_t sum = 0;
            for (const auto& [left, bytes] : model) {
                sum += bytes;
            }
            ASSERT_EQ(waiting.bytes(), sum);
        }
        if (random() % 500 == 0) {
            waiting.clear();
            model.clear();
        }
    }
    while (!model.empty()) { // everything can be drawn out
        model.erase(waiting.take(0));
    }
    ASSERT_EQ(waiting.take(0), nullptr);
}

template <Dictionary D>
void expectAModelDictionary() {
    for (const std::uint32_t seed : {1U, 2U, 3U, 20261122U}) {
        runDictionaryHistory<D>(seed);
    }
}

} // namespace heapwright::testing
