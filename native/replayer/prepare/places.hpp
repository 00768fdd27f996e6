// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which place of a table an object gets. An object that stays with its thread gets one of the
// thread's own, the one left last first, so that the table is as small as can be and warm. One that
// passes to another thread gets a place of the shared table, and those are reused as late as can
// be: a thread that is ahead of the recorded order waits only where `lag` hand-overs came between.
#pragma once

#include "replayer/plan.hpp"

#include <cstdint>
#include <deque>
#include <stdexcept>
#include <vector>

namespace heapwright::replayer {

class OwnPlaces {
public:
    std::uint32_t take() {
        if (!left_.empty()) {
            const std::uint32_t place = left_.back();
            left_.pop_back();
            return place;
        }
        if (used_ == command::mostPlaces) {
            throw std::runtime_error("one thread has more live objects than can be replayed");
        }
        return used_++;
    }

    void leave(std::uint32_t place) { left_.push_back(place); }
    std::uint32_t used() const { return used_; }

private:
    std::vector<std::uint32_t> left_;
    std::uint32_t used_ = 1; ///< place 0 is never given out
};

class SharedPlaces {
public:
    static constexpr std::size_t lag = std::size_t{1} << 16;

    Hold take() {
        Hold hold{.shared = true};
        if (left_.size() > lag) {
            hold.place = left_.front();
            left_.pop_front();
            hold.generation =
                static_cast<std::uint16_t>((generations_[hold.place] + 1U) % generations);
            generations_[hold.place] = hold.generation;
        } else {
            if (generations_.size() > UINT32_MAX) {
                throw std::runtime_error("more objects pass between threads than can be replayed");
            }
            hold.place = static_cast<std::uint32_t>(generations_.size());
            generations_.push_back(0);
        }
        return hold;
    }

    void leave(std::uint32_t place) { left_.push_back(place); }
    std::size_t used() const { return generations_.size(); }

private:
    std::deque<std::uint32_t> left_;
    std::vector<std::uint16_t> generations_;
};

} // namespace heapwright::replayer
