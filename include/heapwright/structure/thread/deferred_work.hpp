// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Work deferred from a context that cannot do it: a signal handler may not print, and the child of
// a fork may not start a thread yet. The work is requested here. The next request that leaves a
// heap's fast path does it, before it takes a lock.
//
// Each kind of work is a bit, so repeated requests count once. One worker function does all kinds.
// Pre: a caller of `look` tolerates re-entry, because the worker may allocate.
// Cost: `look` loads a word. A request is one atomic step, also in signal handlers.
#pragma once

#include <atomic>
#include <cstdint>

namespace heapwright {

class DeferredWork {
public:
    using Set = std::uint32_t;
    using Worker = void (*)(Set) noexcept;

    /// Sets the worker function. Work requested before waits for it.
    static void setWorker(Worker worker) noexcept {
        worker_.store(worker, std::memory_order_release);
    }

    static void ask(Set chores) noexcept { due_.fetch_or(chores, std::memory_order_release); }

    [[nodiscard]] static bool due() noexcept { return due_.load(std::memory_order_relaxed) != 0; }

    /// Runs the worker if work is due.
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
