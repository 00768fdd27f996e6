// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/thread/fork_holds.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>

namespace heapwright::testing {
namespace {

/// Says what is done to it.
struct Noting {
    std::string did;
    bool heldAlready = false;

    void beforeFork() { did += "hold "; }
    [[nodiscard]] bool heldByThisThread() const { return heldAlready; }
};

/// One that cannot report its holder.
struct Plain {
    std::string did;

    void beforeFork() { did += "hold "; }
};

TEST(ForkHolds, HoldsHeapsOfDifferentKinds) {
    Noting one;
    Plain other;
    ForkHolds<2> holds;
    const auto visit = [&](std::size_t index, auto body) {
        if (index == 0) {
            body(one);
        } else {
            body(other);
        }
    };
    std::string order;
    holds.hold(visit);
    holds.letGo(visit, [&](auto& heap) { order += &heap.did == &one.did ? "one " : "other "; });
    EXPECT_EQ(one.did + other.did, "hold hold ");
    EXPECT_EQ(order, "other one ") << "the last first";
}

TEST(ForkHolds, ReleasesAsOftenAsItHoldsHeapsWithoutOwnerQuery) {
    std::thread([] {
        std::array<Plain, 2> heaps;
        ForkHolds<2> holds;
        const auto visit = [&](std::size_t index, auto body) { body(heaps[index]); };
        const auto letGo = [](Plain& heap) { heap.did += "free "; };
        holds.hold(visit);
        holds.hold(visit);
        holds.letGo(visit, letGo);
        EXPECT_EQ(heaps[0].did, "hold hold free ");
        holds.letGo(visit, letGo);
        EXPECT_EQ(heaps[0].did, "hold hold free free ");
        EXPECT_EQ(heaps[1].did, heaps[0].did);
    }).join();
}

TEST(ForkHolds, LeavesLocksThatTheThreadHolds) {
    std::thread([] { // so that there is more than one
        std::array<Noting, 3> heaps;
        ForkHolds<3> holds;
        const auto visit = [&](std::size_t index, auto body) { body(heaps[index]); };
        const auto letGo = [](Noting& heap) { heap.did += "free "; };
        heaps[0].heldAlready = true; // the request that was interrupted
        holds.hold(visit);
        heaps[1].heldAlready = heaps[2].heldAlready = true;
        holds.hold(visit); // the fork of a handler inside the first
        holds.letGo(visit, letGo);
        EXPECT_EQ(heaps[1].did, "hold ") << "it is the outer fork's";
        holds.letGo(visit, letGo);
        EXPECT_EQ(heaps[0].did, "");
        EXPECT_EQ(heaps[1].did, "hold free ");
        EXPECT_EQ(heaps[2].did, "hold free ");
    })
        .join();
}

} // namespace
} // namespace heapwright::testing
