// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Random histories of a heap against a model: what is live, where it is, and what is in it. The
// history follows from its seed alone; a failure names the seed and the step. It knows the heap by
// its table only, and keeps to the requests that the heap supports: one size, or only the newest
// freed.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/introspection.hpp>

#include <support/any_heap.hpp>

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

/// How often a history got memory, and how often null for a request that was not only for held
/// memory.
struct HistoryTally {
    std::size_t served = 0;
    std::size_t refused = 0;
};

class History {
    struct Object {
        std::size_t size;
        unsigned char fill;
    };
    using Live = std::map<Address, Object>;

public:
    History(AnyHeap heap, std::uint32_t seed, HistoryShape shape)
        : heap_(heap), verbs_(*heap.verbs), shape_(shape), random_(seed) {}

    /// Runs the steps; everything is freed again at the end.
    HistoryTally run(std::uint32_t seed) {
        for (step_ = 0; step_ < shape_.steps && !::testing::Test::HasFatalFailure(); ++step_) {
            step();
        }
        if (::testing::Test::HasFatalFailure()) {
            ADD_FAILURE() << "seed " << seed << ", step " << step_ - 1;
        }
        while (!live_.empty() && !::testing::Test::HasFatalFailure()) {
            freeOne(verbs_.stack ? newest() : live_.begin());
        }
        return tally_;
    }

private:
    std::size_t below(std::size_t bound) {
        return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
    }

    std::size_t anySize() {
        const std::size_t range = shape_.largest - shape_.smallest + 1;
        const std::size_t few = range < 100 ? range : 100;
        return shape_.smallest + below(below(4) == 0 ? range : few);
    }

    Live::iterator newest() { return live_.find(order_.back()); }

    Live::iterator anyLive() {
        auto chosen =
            live_.lower_bound(addressOf(nullptr) + static_cast<Address>(random_()) * 4096);
        if (chosen == live_.end() || below(2) == 0) {
            chosen = live_.begin();
            std::advance(chosen, static_cast<std::ptrdiff_t>(below(live_.size())));
        }
        return chosen;
    }

    void step() {
        const std::size_t action = below(40);
        if (action == 39) {
            disturb();
        } else if (live_.empty() || (action < 20 && live_.size() < shape_.mostLive)) {
            allocate();
        } else if (action < 28) {
            resizeOne(verbs_.stack ? newest() : anyLive());
        } else {
            freeOne(verbs_.stack ? newest() : anyLive());
        }
    }

    /// What the heap does with what it keeps must not show.
    void disturb() {
        const std::size_t way = below(4);
        if (way == 0 && verbs_.flush != nullptr) {
            verbs_.flush(heap_.heap);
        } else if (way == 1 && verbs_.trim != nullptr) {
            verbs_.trim(heap_.heap, below(2) * 4096);
        } else if (way == 2 && verbs_.beforeFork != nullptr) {
            verbs_.beforeFork(heap_.heap);
            verbs_.afterForkInParent(heap_.heap);
        } else if (verbs_.measure != nullptr) {
            MemoryUsage usage;
            verbs_.measure(heap_.heap, usage);
        }
    }

    void allocate() {
        const std::size_t size = anySize();
        std::size_t align = verbs_.alignment;
        std::size_t phase = verbs_.phase;
        bool zero = false;
        bool held = false;
        void* object = nullptr;
        const std::size_t way = below(8);
        if (way == 0 && verbs_.memalign != nullptr) {
            align = std::size_t{1} << below(14);
            phase = 0;
            object = verbs_.memalign(heap_.heap, align, size);
        } else if (way == 1 && verbs_.zalloc != nullptr) {
            object = verbs_.zalloc(heap_.heap, size);
            zero = true;
        } else if (way == 2 && verbs_.mallocHeld != nullptr) {
            object = verbs_.mallocHeld(heap_.heap, size);
            held = true;
        } else if (way == 3 && verbs_.memalignHeld != nullptr) {
            align = std::size_t{1} << below(10);
            phase = 0;
            object = verbs_.memalignHeld(heap_.heap, align, size);
            held = true;
        } else {
            object = heap_.malloc(size);
        }
        if (object == nullptr) {
            tally_.refused += held ? 0U : 1U;
            ASSERT_TRUE(held || shape_.mayFail) << "null for " << size << " bytes";
            return;
        }
        ++tally_.served;
        ASSERT_EQ(addressOf(object) % align, phase % align);
        assertOurs(object, size);
        if (zero) {
            assertFilled(object, size, 0);
        }
        add(object, size);
    }

    /// The heap knows the object, and it overlaps none that is live.
    void assertOurs(void* object, std::size_t size) {
        if (verbs_.getSize != nullptr) {
            ASSERT_GE(heap_.getSize(object), size);
        }
        if (verbs_.owns != nullptr) {
            ASSERT_TRUE(verbs_.owns(heap_.heap, object));
        }
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
        std::size_t same = 0;
        while (same < size && bytes[same] == fill) {
            ++same;
        }
        ASSERT_EQ(same, size) << "the byte there is " << int{bytes[same]} << ", not " << int{fill};
    }

    void add(void* object, std::size_t size) {
        const auto fill = static_cast<unsigned char>(random_());
        std::memset(object, fill, size);
        live_[addressOf(object)] = Object{size, fill};
        order_.push_back(addressOf(object));
    }

    void forget(Live::iterator entry) {
        for (std::size_t at = order_.size(); at-- > 0;) {
            if (order_[at] == entry->first) {
                order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(at));
                break;
            }
        }
        live_.erase(entry);
    }

    void freeOne(Live::iterator entry) {
        void* const object = pointerTo(entry->first);
        assertFilled(object, entry->second.size, entry->second.fill);
        forget(entry);
        heap_.free(object);
    }

    /// In place, by moving pages, or not at all.
    void resizeOne(Live::iterator entry) {
        void* const object = pointerTo(entry->first);
        const Object before = entry->second;
        const std::size_t size = anySize();
        void* moved = nullptr;
        if (verbs_.resize != nullptr) {
            moved = verbs_.resize(heap_.heap, object, size) ? object : nullptr;
        }
        if (moved == nullptr && verbs_.relocate != nullptr) {
            moved = verbs_.relocate(heap_.heap, object, size);
        }
        if (moved == nullptr) {
            assertFilled(object, before.size, before.fill);
            return;
        }
        forget(entry);
        assertOurs(moved, size);
        assertFilled(moved, size < before.size ? size : before.size, before.fill);
        add(moved, size);
    }

    AnyHeap heap_;
    const HeapVerbs& verbs_;
    HistoryShape shape_;
    std::mt19937 random_;
    std::size_t step_ = 0;
    HistoryTally tally_;
    Live live_;
    std::vector<Address> order_; ///< the live ones, the newest last
};

/// Runs a history of a heap that its table stands for.
inline HistoryTally runHistoryOf(AnyHeap heap, std::uint32_t seed, HistoryShape shape = {}) {
    return History(heap, seed, shape).run(seed);
}

template <class H>
HistoryTally runHistory(H& heap, std::uint32_t seed, HistoryShape shape = {}) {
    return runHistoryOf(AnyHeap::of(heap), seed, shape);
}

} // namespace heapwright::testing
