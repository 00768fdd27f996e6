// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The optional background thread of granary. It returns free memory to the system while the program
// is idle, and prints statistics after a signal. It sleeps otherwise.
//
// A request of the program or a call of the C functions starts it, never the start of the library.
// In the forked child, the next request starts it again. It blocks all signals. It ends when the
// settings no longer want it, when the process ends, or when it is the last thread.
// Invariant: `state_` is `running` exactly while the thread exists.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <heapwright/platform/helper_thread.hpp>
#include <heapwright/platform/process.hpp>
#include <heapwright/platform/thread_exit.hpp>
#include <heapwright/structure/extent/purge_policy.hpp>
#include <heapwright/structure/settings/granary_settings.hpp>
#include <heapwright/structure/thread/deferred_work.hpp>

#include <preload/instance.hpp>

namespace heapwright::preload {

/// The deferred work of a process with granary.
struct GranaryTask {
    static constexpr DeferredWork::Set print = 1;
    static constexpr DeferredWork::Set start = 2; ///< the background thread
};

template <class Allocator>
class GranaryBackgroundThread {
public:
    /// Whether the settings request the thread.
    [[nodiscard]] static bool wanted() noexcept {
        return GranarySettings::background() || GranarySettings::printsOnSignal() != 0;
    }

    /// Starts the thread if it is requested and does not exist.
    [[gnu::cold]] static void start() noexcept {
        State expected = State::none;
        if (wanted() && state_.compare_exchange_strong(expected, State::running) &&
            !platform::startHelper(&attend, "granary")) {
            state_ = State::none;
        }
    }

    /// Wakes the thread to look for work. A signal handler may call this.
    static void wake() noexcept {
        wakes_.fetch_add(1, std::memory_order_release);
        if (state_.load(std::memory_order_relaxed) == State::running) {
            platform::sharedFutexWakeOne(wakes_);
        }
    }

    /// Called in the first thread of the process: its end may be the end of the program's threads.
    static void watchThisThread() noexcept { watched_ = AtEnd::arrange(); }

    [[gnu::cold]] static void afterForkInChild() noexcept {
        state_ = State::none;
        firstHasEnded_ = false;
        if (wanted()) {
            DeferredWork::ask(GranaryTask::start);
        }
    }

private:
    enum class State : std::uint8_t { none, running };
    static constexpr std::uint32_t forever = UINT32_MAX;

    static void firstEnds() noexcept {
        firstHasEnded_ = true;
        wake();
    }
    using AtEnd = platform::AtThreadExit<firstEnds>;

    [[gnu::cold]] static void* attend(void* /*nothing*/) {
        std::uint32_t patience = 1; // milliseconds until it counts the threads again
        while (wanted()) {
            const std::uint32_t seen = wakes_.load(std::memory_order_acquire);
            DeferredWork::look();
            std::uint32_t pause = tended();
            if (firstHasEnded_) {
                if (platform::aloneInProcess()) {
                    return nullptr; // the process ends with this thread
                }
                pause = std::min(pause, patience);
                patience = std::min(2 * patience, std::uint32_t{1000});
            } else if (!watched_) {
                constexpr std::uint32_t nowAndThen = 5000;
                pause = std::min(pause, nowAndThen);
                firstHasEnded_ = platform::threadIsGone(platform::processId());
            }
            platform::sharedFutexWait(wakes_, seen, pause);
        }
        state_ = State::none;
        start(); // if it was requested again meanwhile
        return nullptr;
    }

    /// Purges what is due. Returns the milliseconds until more is due.
    static std::uint32_t tended() noexcept {
        if constexpr (PurgeableHeap<Allocator>) {
            if (GranarySettings::background()) {
                return instance<Allocator>().purgeExpired();
            }
        }
        return forever;
    }

    static inline constinit std::atomic<State> state_{State::none};
    static inline constinit std::atomic<std::uint32_t> wakes_{0};
    static inline constinit std::atomic<bool> firstHasEnded_{false};
    static inline constinit std::atomic<bool> watched_{false};
};

} // namespace heapwright::preload
