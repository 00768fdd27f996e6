// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A semaphore that enforces the recorded order of calls. Each thread has one. The thread that made
// the previous call posts it. It may be posted before its thread has started.
#pragma once

#include "futex.hpp"
#include "object_exchange.hpp"

#include <atomic>
#include <cstdint>

namespace heapwright::replayer {

class alignas(64) OrderSemaphore {
public:
    void post() {
        if ((word_.fetch_add(one, std::memory_order_acq_rel) & sleeping) != 0) {
            word_.fetch_and(~sleeping, std::memory_order_relaxed);
            wakeAll(&word_);
        }
    }

    /// Called by the owning thread only.
    void wait(Waits& waits) {
        const std::uint64_t began = platform::ticks();
        bool waited = false;
        for (int spin = 0;; ++spin) {
            std::uint32_t word = word_.load(std::memory_order_acquire);
            if (word / one != taken_) {
                taken_ = (taken_ + 1) % (UINT32_MAX / one + 1);
                break;
            }
            waited = true;
            if (spin < spins) {
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
    static constexpr std::uint32_t one = 2; ///< one post; counted modulo 2^31

    std::atomic<std::uint32_t> word_{0};
    std::uint32_t taken_ = 0;
};

} // namespace heapwright::replayer
