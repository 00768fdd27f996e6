// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/fork_and_signals.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Least {
    static constexpr std::size_t alignment = 16;
    void* malloc(std::size_t) noexcept { return nullptr; }
    void free(void*) {}
};

struct Rich : Least {
    void beforeFork() {}
    void afterForkInParent() {}
    void afterForkInChild() {}
    bool heldByThisThread() const { return false; }
    template <class Body>
    bool attempt(Body body) {
        body(*this);
        return true;
    }
};

/// A part of a heap, such as a lock, that is no heap itself.
struct Part {
    bool heldByThisThread() const { return false; }
};

TEST(ForkAndSignals, ConceptsDependOnTheVerbs) {
    EXPECT_TRUE(ForkableHeap<Rich> && ReentryDetectingHeap<Rich> && AttemptingHeap<Rich>);
    EXPECT_FALSE(ForkableHeap<Least> || ReentryDetectingHeap<Least> || AttemptingHeap<Least>);
}

TEST(ForkAndSignals, TellReEntryOfAPartToo) {
    EXPECT_TRUE(ReentryDetecting<Part>);
    EXPECT_FALSE(ReentryDetectingHeap<Part>);
}

} // namespace
} // namespace heapwright::testing
