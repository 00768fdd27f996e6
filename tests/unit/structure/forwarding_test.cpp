// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/forwarding.hpp>

#include <support/shown_heap.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heapwright::testing {
namespace {

/// Has every verb, and notes which was called.
class NotingHeap : public ShownHeap {
public:
    static inline std::string called;

    bool flush() noexcept { return noted("flush"); }
    bool trim(std::size_t pad) noexcept { return noted("trim") && pad == 7; }
    void clear() noexcept { noted("clear"); }
    void measure(MemoryUsage& usage) noexcept { usage.held += noted("measure") ? 1U : 0U; }
    [[nodiscard]] bool owns(const void* object) noexcept { return noted("owns") && object == this; }
    void beforeFork() noexcept { noted("before"); }
    void afterForkInParent() noexcept { noted("parent"); }
    void afterForkInChild() noexcept { noted("child"); }
    [[nodiscard]] bool heldByThisThread() const noexcept { return noted("held"); }

private:
    static bool noted(const char* verb) noexcept {
        called += std::string(called.empty() ? "" : " ") + verb;
        return true;
    }
};

/// A layer that changes nothing.
template <class SuperHeap>
class Layer : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    using Below = Heaps<SuperHeap>;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return SuperHeap::malloc(size); }
    void free(void* object) noexcept { SuperHeap::free(object); }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::clear;
    using Forwards::flush;
    using Forwards::heldByThisThread;
    using Forwards::inspect;
    using Forwards::measure;
    using Forwards::owns;
    using Forwards::purgeExpired;
    using Forwards::trim;
    using Forwards::walk;
};

using Rich = Layer<NotingHeap>;
static_assert(FlushableHeap<Rich> && TrimmableHeap<Rich> && PurgeableHeap<Rich>);
static_assert(ClearableHeap<Rich> && MeasurableHeap<Rich> && OwningHeap<Rich>);
static_assert(InspectableHeap<Rich> && WalkableHeap<Rich> && ForkableHeap<Rich>);

using Poor = Layer<CountingHeap>;
static_assert(Heap<Poor> && MeasurableHeap<Poor>);
static_assert(!FlushableHeap<Poor> && !TrimmableHeap<Poor> && !PurgeableHeap<Poor>);
static_assert(!ClearableHeap<Poor> && !OwningHeap<Poor> && !ForkableHeap<Poor>);
static_assert(!InspectableHeap<Poor> && !WalkableHeap<Poor>);

TEST(Forwarding, HandsEachVerbDownOnce) {
    Rich heap;
    MemoryUsage usage;
    NotingHeap::called.clear();
    EXPECT_TRUE(heap.flush());
    EXPECT_TRUE(heap.trim(7));
    heap.clear();
    heap.measure(usage);
    EXPECT_EQ(usage.held, 1U);
    EXPECT_FALSE(heap.owns(nullptr));
    heap.beforeFork();
    EXPECT_TRUE(heap.heldByThisThread());
    heap.afterForkInParent();
    heap.afterForkInChild();
    EXPECT_EQ(NotingHeap::called, "flush trim clear measure owns before held parent child");
    const std::uint32_t before = ShownHeap::tended;
    EXPECT_EQ(heap.purgeExpired(), before + 1);
}

TEST(Forwarding, HasTheTraitsOfTheHeapBelow) {
    Ledger::begin();
    Rich heap;
    void* const object = heap.malloc(48);
    HeapSnapshot snapshot;
    heap.inspect(snapshot);
    EXPECT_EQ(snapshot.totals().liveObjects, 1U);
    const auto shown = walked(heap);
    ASSERT_EQ(shown.count(object), 1U);
    EXPECT_EQ(shown.at(object).size, 48U);
    heap.free(object);
    EXPECT_TRUE(walked(heap).empty());
}

} // namespace
} // namespace heapwright::testing
