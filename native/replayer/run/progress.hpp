// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The window that a thread is in, for the bounded order. It has left all windows before that one.
// Other threads wait until it has come far enough.
#pragma once

#include "futex.hpp"
#include "object_exchange.hpp"

#include "replayer/plan.hpp"

#include <heapwright/platform/ticks.hpp>

#include <atomic>
#include <cstdint>

namespace heapwright::replayer {

class alignas(64) Progress {
public:
    explicit Progress(std::uint32_t window) : word_(window * one) {}

    /// Called by the owning thread only.
    void enter(std::uint32_t window) {
        if ((word_.exchange(window * one, std::memory_order_acq_rel) & sleeping) != 0) {
            wakeAll(&word_);
        }
    }

    std::uint32_t window() const { return word_.load(std::memory_order_acquire) / one; }

    /// Waits until the thread is in that window or a later one.
    void await(std::uint32_t window, Waits& waits) {
        if (this->window() >= window) {
            return;
        }
        const std::uint64_t began = platform::ticks();
        for (int spin = 0;; ++spin) {
            std::uint32_t word = word_.load(std::memory_order_acquire);
            if (word / one >= window) {
                break;
            }
            if (spin < spins) {
                pauseProcessor();
            } else if ((word & sleeping) != 0 ||
                       word_.compare_exchange_strong(word, word | sleeping)) {
                sleepWhile(&word_, word | sleeping);
            }
        }
        ++waits.count;
        waits.ticks += platform::ticks() - began;
    }

private:
    static constexpr std::uint32_t sleeping = 1;
    static constexpr std::uint32_t one = 2; ///< one window

    std::atomic<std::uint32_t> word_;
};

} // namespace heapwright::replayer
