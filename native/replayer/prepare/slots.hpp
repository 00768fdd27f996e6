// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Assigns slots of the tables of objects. An object that stays with its thread gets a slot of the
// thread's own table. The last released slot is reused first, which keeps the table small and warm.
// An object that passes to another thread gets a slot of the shared table. Those are reused as late
// as possible: a thread ahead of the recorded order waits only after `lag` hand-overs.
#pragma once

#include "replayer/plan.hpp"

#include <cstdint>
#include <deque>
#include <stdexcept>
#include <vector>

namespace heapwright::replayer {

class OwnSlots {
public:
    std::uint32_t take() {
        if (!left_.empty()) {
            const std::uint32_t slot = left_.back();
            left_.pop_back();
            return slot;
        }
        if (used_ == command::mostSlots) {
            throw std::runtime_error("one thread has more live objects than can be replayed");
        }
        return used_++;
    }

    void leave(std::uint32_t slot) { left_.push_back(slot); }
    std::uint32_t used() const { return used_; }

private:
    std::vector<std::uint32_t> left_;
    std::uint32_t used_ = 1; ///< slot 0 is never given out
};

class SharedSlots {
public:
    static constexpr std::size_t lag = std::size_t{1} << 16;

    SlotUse take() {
        SlotUse use{.shared = true};
        if (left_.size() > lag) {
            use.slot = left_.front();
            left_.pop_front();
            use.generation =
                static_cast<std::uint16_t>((generations_[use.slot] + 1U) % generations);
            generations_[use.slot] = use.generation;
        } else {
            if (generations_.size() > UINT32_MAX) {
                throw std::runtime_error("more objects pass between threads than can be replayed");
            }
            use.slot = static_cast<std::uint32_t>(generations_.size());
            generations_.push_back(0);
        }
        return use;
    }

    void leave(std::uint32_t slot) { left_.push_back(slot); }
    std::size_t used() const { return generations_.size(); }

private:
    std::deque<std::uint32_t> left_;
    std::vector<std::uint16_t> generations_;
};

} // namespace heapwright::replayer
