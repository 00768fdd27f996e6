// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Work deferred from a context that cannot do it. A signal handler may not print, and the child of
// a fork may not start a thread yet. The work is requested here. The next request that leaves a
// heap's fast path does it, before it takes a lock.
//
// Each kind of work is a bit, so repeated requests count once. One worker function does all kinds.
// It may start a thread. The C library frees memory while it holds a lock that this needs. So after
// a `free` the work is done only if its caller is known to be other code. The C library does not
// allocate under this lock. Work that a handler finds is left too, because the handler may have
// interrupted any code.
// Pre: a caller of `look` tolerates re-entry, because the worker may allocate.
// Cost: `look` loads a word. A request is one atomic step, also in signal handlers.
#pragma once

#include <heapwright/platform/thread.hpp>

#include <atomic>
#include <cstdint>

namespace heapwright {

class DeferredWork {
public:
    using Set = std::uint32_t;
    using Worker = void (*)(Set) noexcept;
    /// Whether the code at an address holds no lock of the C library when it calls `free`.
    using FreeCaller = bool (*)(const void* caller) noexcept;

    /// Sets the worker function. Work requested before waits for it. Without `isSafe` no caller of
    /// `free` is known to be safe.
    static void setWorker(Worker worker, FreeCaller isSafe = nullptr) noexcept {
        isSafe_.store(isSafe, std::memory_order_relaxed);
        worker_.store(worker, std::memory_order_release);
    }

    /// Leaves all work of the calling thread for later while a signal handler runs. If the handler
    /// never returns, the work is left to other threads.
    class Hold {
    public:
        Hold() noexcept { ++Held::mine(); }
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;
        ~Hold() { --Held::mine(); }
    };

    static void ask(Set chores) noexcept { due_.fetch_or(chores, std::memory_order_release); }

    [[nodiscard]] static bool due() noexcept { return due_.load(std::memory_order_relaxed) != 0; }

    /// Runs the worker if work is due.
    static void look() noexcept {
        if (due()) [[unlikely]] {
            work();
        }
    }

    /// As `look`, in a `free` that `caller` called.
    static void lookInFree(const void* caller) noexcept {
        if (due()) [[unlikely]] {
            const FreeCaller isSafe = isSafe_.load(std::memory_order_relaxed);
            if (isSafe != nullptr && isSafe(caller)) {
                work();
            }
        }
    }

private:
    using Held = platform::PerThread<DeferredWork, std::uint32_t>;

    [[gnu::cold, gnu::noinline]] static void work() noexcept {
        const Worker worker = worker_.load(std::memory_order_acquire);
        if (worker == nullptr || Held::mine() != 0) {
            return;
        }
        const Set due = due_.exchange(0, std::memory_order_acq_rel);
        if (due != 0) {
            worker(due);
        }
    }

    static inline constinit std::atomic<Set> due_{0};
    static inline constinit std::atomic<Worker> worker_{nullptr};
    static inline constinit std::atomic<FreeCaller> isSafe_{nullptr};
};

} // namespace heapwright
