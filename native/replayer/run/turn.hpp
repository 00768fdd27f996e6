// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's turns in the recorded order: whoever made the call before passes the turn on. Turns
// can be passed to a thread that is not there yet.
#pragma once

#include "hand_overs.hpp"
#include "waiting.hpp"

#include <atomic>
#include <cstdint>

namespace heapwright::replayer {

class alignas(64) Turn {
public:
    void pass() {
        if ((word_.fetch_add(one, std::memory_order_acq_rel) & sleeping) != 0) {
            word_.fetch_and(~sleeping, std::memory_order_relaxed);
            wakeAll(&word_);
        }
    }

    /// Only the thread itself takes.
    void take(Waits& waits) {
        const std::uint64_t began = platform::ticks();
        bool waited = false;
        for (int look = 0;; ++look) {
            std::uint32_t word = word_.load(std::memory_order_acquire);
            if (word / one != taken_) {
                taken_ = (taken_ + 1) % (UINT32_MAX / one + 1);
                break;
            }
            waited = true;
            if (look < looks) {
                pauseProcessor();
            } else if ((word & sleeping) != 0 ||
                       word_.compare_exchange_strong(word, word | sleeping)) {
                sleepWhile(&word_, word | sleeping);
            }
        }
        if (waited) {
            ++waits.count;
            waits.ticks += platform::ticks() - began;
        }
    }

private:
    static constexpr std::uint32_t sleeping = 1;
    static constexpr std::uint32_t one = 2; ///< a turn; counted modulo 2^31

    std::atomic<std::uint32_t> word_{0};
    std::uint32_t taken_ = 0;
};

} // namespace heapwright::replayer
