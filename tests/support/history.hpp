// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Random histories of a heap against a model: what is live, where it is, and what is in it. The
// history follows from its seed alone; a failure names the seed and the step.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace heapwright::testing {

/// What a history asks for.
struct HistoryShape {
    std::size_t steps = 3000;
    std::size_t mostLive = 200;
    std::size_t smallest = 1;
    std::size_t largest = 4000;
    bool mayFail = false; ///< null is an answer that a request may get
};

template <class H>
class History {
    struct Object {
        std::size_t size;
        unsigned char fill;
    };

public:
    History(H& heap, std::uint32_t seed, HistoryShape shape)
        : heap_(heap), shape_(shape), random_(seed), seed_(seed) {}

    /// Runs the steps; everything is freed again at the end.
    void run() {
        for (step_ = 0; step_ < shape_.steps && !::testing::Test::HasFatalFailure(); ++step_) {
            SCOPED_TRACE(::testing::Message() << "seed " << seed_ << ", step " << step_);
            step();
        }
        while (!live_.empty() && !::testing::Test::HasFatalFailure()) {
            freeOne(live_.begin());
        }
    }

private:
    using Live = std::map<Address, Object>;

    std::size_t below(std::size_t bound) {
        return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
    }

    std::size_t anySize() {
        const std::size_t range = shape_.largest - shape_.smallest + 1;
        const std::size_t few = range < 100 ? range : 100;
        return shape_.smallest + below(below(4) == 0 ? range : few);
    }

    typename Live::iterator anyLive() {
        auto chosen =
            live_.lower_bound(addressOf(nullptr) + static_cast<Address>(random_()) * 4096);
        if (chosen == live_.end() || below(2) == 0) {
            chosen = live_.begin();
            std::advance(chosen, static_cast<std::ptrdiff_t>(below(live_.size())));
        }
        return chosen;
    }

    void step() {
        const std::size_t action = below(10);
        if (live_.empty() || (action < 5 && live_.size() < shape_.mostLive)) {
            allocate();
        } else if (action < 7) {
            resizeOne(anyLive());
        } else {
            freeOne(anyLive());
        }
    }

    void allocate() {
        const std::size_t size = anySize();
        void* object = nullptr;
        std::size_t align = H::alignment;
        std::size_t phase = phaseOf<H>;
        const std::size_t way = below(8);
        bool zero = false;
        if (way == 0) {
            if constexpr (AlignedHeap<H>) {
                align = std::size_t{1} << below(14);
                phase = 0;
                object = heap_.memalign(align, size);
            } else {
                object = heap_.malloc(size);
            }
        } else if (way == 1) {
            if constexpr (ZeroingHeap<H>) {
                object = heap_.zalloc(size);
                zero = true;
            } else {
                object = heap_.malloc(size);
            }
        } else {
            object = heap_.malloc(size);
        }
        if (object == nullptr) {
            ASSERT_TRUE(shape_.mayFail) << "null for " << size << " bytes";
            return;
        }
        ASSERT_EQ(addressOf(object) % align, phase % align);
        if constexpr (SizedHeap<H>) {
            ASSERT_GE(heap_.getSize(object), size);
        }
        assertApart(object, size);
        if (zero) {
            assertFilled(object, size, 0);
        }
        add(object, size);
    }

    /// A new object overlaps none that is live.
    void assertApart(void* object, std::size_t size) {
        const Address start = addressOf(object);
        const auto after = live_.lower_bound(start);
        if (after != live_.end()) {
            ASSERT_LE(start + size, after->first) << "overlaps the object behind it";
        }
        if (after != live_.begin()) {
            const auto before = std::prev(after);
            ASSERT_LE(before->first + before->second.size, start)
                << "overlaps the object before it";
        }
    }

    static void assertFilled(void* object, std::size_t size, unsigned char fill) {
        const auto* bytes = static_cast<const unsigned char*>(object);
        for (std::size_t i = 0; i < size; ++i) {
            ASSERT_EQ(bytes[i], fill) << "byte " << i << " of " << size;
        }
    }

    void add(void* object, std::size_t size) {
        const auto fill = static_cast<unsigned char>(random_());
        std::memset(object, fill, size);
        live_[addressOf(object)] = Object{size, fill};
    }

    void freeOne(typename Live::iterator entry) {
        void* const object = pointerTo(entry->first);
        assertFilled(object, entry->second.size, entry->second.fill);
        live_.erase(entry);
        heap_.free(object);
    }

    /// In place, by moving pages, or not at all.
    void resizeOne(typename Live::iterator entry) {
        void* const object = pointerTo(entry->first);
        const Object before = entry->second;
        const std::size_t size = anySize();
        void* moved = nullptr;
        if constexpr (ResizableHeap<H>) {
            moved = heap_.resize(object, size) ? object : nullptr;
        }
        if constexpr (RelocatingHeap<H>) {
            moved = moved != nullptr ? moved : heap_.relocate(object, size);
        }
        if (moved == nullptr) {
            assertFilled(object, before.size, before.fill);
            return;
        }
        live_.erase(entry);
        if constexpr (SizedHeap<H>) {
            ASSERT_GE(heap_.getSize(moved), size);
        }
        assertFilled(moved, size < before.size ? size : before.size, before.fill);
        assertApart(moved, size);
        add(moved, size);
    }

    H& heap_;
    HistoryShape shape_;
    std::mt19937 random_;
    std::uint32_t seed_;
    std::size_t step_ = 0;
    Live live_;
};

template <class H>
void runHistory(H& heap, std::uint32_t seed, HistoryShape shape = {}) {
    History<H>(heap, seed, shape).run();
}

} // namespace heapwright::testing
