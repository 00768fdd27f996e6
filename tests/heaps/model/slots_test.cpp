// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Slots of threads: claimed, released and inherited in every order. One that is made without a
// compare-and-swap is found to be wrong.
#include "explorer.hpp"

#include <heapwright/sync/slot_set.hpp>
#include <heapwright/sync/thread_slot.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace heapwright::testing::model {
namespace {

void expectRight(const Exploration& found) {
    EXPECT_TRUE(found.complete && found.failure.empty()) << toText(found);
    EXPECT_GT(found.runs, 1U);
    ::testing::Test::RecordProperty("runs", static_cast<int>(found.runs));
    ::testing::Test::RecordProperty("steps", static_cast<int>(found.steps));
}

/// The thread that is in a slot at the moment.
class Tenants {
public:
    void enter(std::size_t slot) {
        require(!taken_.at(slot).exchange(true, std::memory_order_relaxed),
                "a slot has two tenants");
    }
    void leave(std::size_t slot) { taken_.at(slot).store(false, std::memory_order_relaxed); }

private:
    std::array<SharedWord<bool>, 3> taken_;
};

/// As `SlotSet`, but looks and then takes.
template <std::size_t Count>
class CarelessSlots {
public:
    static constexpr std::uint32_t none = SlotSet<Count>::none;

    [[nodiscard]] std::uint32_t claim(std::uint32_t tenant) {
        for (std::uint32_t slot = 0; slot < Count; ++slot) {
            if (tenants_[slot].load(std::memory_order_relaxed) == 0) {
                tenants_[slot].store(tenant, std::memory_order_release);
                return slot;
            }
        }
        return none;
    }
    void release(std::uint32_t slot) { tenants_[slot].store(0, std::memory_order_release); }

private:
    std::array<SharedWord<std::uint32_t>, Count> tenants_{};
};

/// Threads want one slot fewer than they are, `times` times each.
template <class Slots, std::size_t Threads, int Turns>
class Moving : public Scenario {
public:
    [[nodiscard]] std::size_t threads() const override { return Threads; }
    void thread(std::size_t index) override {
        for (int turn = 0; turn < Turns; ++turn) {
            const std::uint32_t slot = slots_.claim(static_cast<std::uint32_t>(index) + 1);
            if (slot != Slots::none) {
                tenants_.enter(slot);
                ++stays_;
                tenants_.leave(slot);
                slots_.release(slot);
            }
        }
    }
    void atEnd() override {
        require(stays_ > 0, "nobody had a slot");
        for (std::uint32_t slot = 0; slot < Threads - 1; ++slot) {
            require(slots_.claim(7) == slot, "a slot was lost");
        }
    }

private:
    Slots slots_;
    Tenants tenants_;
    int stays_ = 0;
};

TEST(SlotsModel, NoSlotHasTwoTenantsAndNoneIsLost) {
    expectRight(explore<Moving<SlotSet<2>, 3, 1>>());
    expectRight(explore<Moving<SlotSet<1>, 2, 2>>());
}

TEST(SlotsModel, ClaimWithoutAtomicExchangeIsDetected) {
    using Careless = Moving<CarelessSlots<1>, 2, 1>;
    const Exploration found = explore<Careless>();
    EXPECT_EQ(found.failure, "a slot has two tenants");
    EXPECT_EQ(replay<Careless>(found.schedule).failure, found.failure);
}

/// Two threads find all slots taken, one by a tenant that is gone; a third moves out of the other.
class Inheriting : public Scenario {
public:
    Inheriting() {
        static_cast<void>(slots_.claim(gone));
        static_cast<void>(slots_.claim(leaving));
    }
    [[nodiscard]] std::size_t threads() const override { return 3; }
    void thread(std::size_t index) override {
        if (index == 2) {
            slots_.release(1);
            return;
        }
        const auto tenant = static_cast<std::uint32_t>(index) + 1;
        std::uint32_t slot = slots_.claim(tenant);
        if (slot == SlotSet<2>::none) {
            slot = slots_.inherit(tenant, [](std::uint32_t one) { return one == gone; });
        }
        got_.at(index) = slot;
    }
    void atEnd() override {
        require(got_[0] != got_[1] || got_[0] == SlotSet<2>::none, "a slot has two tenants");
        require(got_[0] == 0 || got_[1] == 0, "nobody inherited");
    }

private:
    static constexpr std::uint32_t gone = 100;
    static constexpr std::uint32_t leaving = 101;
    SlotSet<2> slots_;
    std::array<std::uint32_t, 2> got_{};
};

TEST(SlotsModel, ThreadInheritsTheSlotOfAnEndedThread) {
    expectRight(explore<Inheriting>());
}

/// Threads that come and go: each is alone with its slot while it lives, and sees there what the
/// tenants before it have counted.
class ComingAndGoing : public Scenario {
public:
    [[nodiscard]] std::size_t threads() const override { return 3; }
    void thread(std::size_t index) override {
        const std::uint32_t slot = threadSlot();
        require(slot < threads(), "the slot is not the smallest free one");
        tenants_.enter(slot);
        require(threadSlot() == slot, "the slot has changed");
        ++visits_.at(slot);
        tenants_.leave(slot);
        if (index == 0) {
            giveThreadSlotBack();
            require(threadSlot() == noSlot, "a slot came back");
        }
    }
    void atEnd() override {
        require(visits_[0] + visits_[1] + visits_[2] == 3, "a visit was lost");
        require(visits_[0] >= 1, "the smallest slot was passed over");
        require(threadSlot() == 0, "a slot was lost");
    }

private:
    Tenants tenants_;
    std::array<int, 3> visits_{};
};

TEST(SlotsModel, ThreadsComeAndGo) {
    expectRight(explore<ComingAndGoing>());
}

} // namespace
} // namespace heapwright::testing::model
