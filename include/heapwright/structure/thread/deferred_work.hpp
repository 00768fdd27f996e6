// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What somebody wants done in the process that he cannot do himself: a signal handler that may not
// print, a fork whose child may not start a thread yet. It is asked for here, and done by the next
// request that leaves a heap's quick path, before that takes any lock.
//
// DeferredWork are bits; asking for one twice before it is done is asking once. There is one worker
// for all of them. Whoever looks must be ready for anything, also for being called again: the
// worker may allocate. Cost: the load of a word for who looks; asking is one atomic step, in signal
// handlers too.
#pragma once

#include <atomic>
#include <cstdint>

namespace heapwright {

class DeferredWork {
public:
    using Set = std::uint32_t;
    using Worker = void (*)(Set) noexcept;

    /// Who does them. DeferredWork that were asked for before wait for him.
    static void setWorker(Worker worker) noexcept {
        worker_.store(worker, std::memory_order_release);
    }

    static void ask(Set chores) noexcept { due_.fetch_or(chores, std::memory_order_release); }

    [[nodiscard]] static bool due() noexcept { return due_.load(std::memory_order_relaxed) != 0; }

    /// Has done what is due, if anything is.
    static void look() noexcept {
        if (due()) [[unlikely]] {
            work();
        }
    }

private:
    [[gnu::cold, gnu::noinline]] static void work() noexcept {
        const Worker worker = worker_.load(std::memory_order_acquire);
        if (worker == nullptr) {
            return;
        }
        const Set due = due_.exchange(0, std::memory_order_acq_rel);
        if (due != 0) {
            worker(due);
        }
    }

    static inline constinit std::atomic<Set> due_{0};
    static inline constinit std::atomic<Worker> worker_{nullptr};
};

} // namespace heapwright
