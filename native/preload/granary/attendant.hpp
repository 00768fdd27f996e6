// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The thread that granary has of its own if it is asked for: it gives free memory back to the
// system while the program does nothing, and prints statistics when a signal has come. It sleeps
// unless there is something to do.
//
// It is started by a request of the program or by a call of it, never within the library's own
// start; in the child after a fork it is started anew by a request there. It blocks all signals. It
// ends when it is wanted no more, with the process, and when all other threads have ended, which
// would otherwise end the process.
// Invariant: `state_` says `running` exactly while there is one.
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

namespace heapwright::interpose {

/// What may be asked of `DeferredWork` in a process under granary.
struct GranaryTask {
    static constexpr DeferredWork::Set print = 1;
    static constexpr DeferredWork::Set start = 2; ///< the attendant
};

template <class Allocator>
class GranaryAttendant {
public:
    /// Whether the settings want it.
    [[nodiscard]] static bool wanted() noexcept {
        return GranarySettings::background() || GranarySettings::printsOnSignal() != 0;
    }

    /// Starts it if it is wanted and is not there.
    [[gnu::cold]] static void start() noexcept {
        State expected = State::none;
        if (wanted() && state_.compare_exchange_strong(expected, State::running) &&
            !platform::startHelper(&attend, "granary")) {
            state_ = State::none;
        }
    }

    /// Has it look at what there is to do. A signal handler may call this.
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
        std::uint32_t patience = 1; // milliseconds until it looks again who is left
        while (wanted()) {
            const std::uint32_t seen = wakes_.load(std::memory_order_acquire);
            DeferredWork::look();
            std::uint32_t pause = tended();
            if (firstHasEnded_) {
                if (platform::aloneInProcess()) {
                    return nullptr; // and with this thread the process ends
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
        start(); // if it has been wanted again since
        return nullptr;
    }

    /// Gives back what is due; milliseconds until more is.
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

} // namespace heapwright::interpose
