// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The background thread of granary. It returns free memory to the system while the program is idle,
// and prints statistics after a signal. It sleeps otherwise.
//
// A request of the program or a call of the C functions starts it, never the start of the library.
// With the setting `background=auto` it starts only while much memory waits in a process that has
// other threads. It ends soon after the memory has been returned. With `background=on`, the next
// request in a forked child starts it again. It blocks all signals. It ends when the settings no
// longer want it, when the process ends, or when it is the last thread.
// Invariant: `state_` is `running` exactly while the thread exists.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <heapwright/platform/helper_thread.hpp>
#include <heapwright/platform/process.hpp>
#include <heapwright/platform/thread.hpp>
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
    static constexpr DeferredWork::Set guard = 4; ///< what guarded pages need
};

template <class Allocator>
class GranaryBackgroundThread {
public:
    /// Whether the settings request the thread for the whole time of the process.
    [[nodiscard]] static bool wanted() noexcept {
        return GranarySettings::background() == Background::on ||
               GranarySettings::printsOnSignal() != 0;
    }

    /// Starts the thread if the settings permit it and it does not exist.
    [[gnu::cold]] static void start() noexcept {
        State expected = State::none;
        if (isWantedNow() && state_.compare_exchange_strong(expected, State::running) &&
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

    /// Wakes the thread for the first memory that waits, or asks for the thread if much waits. A
    /// thread that looks again within the delay anyway is not woken.
    static void memoryWaits(bool first, bool much) noexcept {
        if (first) {
            alone_.store(false, std::memory_order_relaxed);
        }
        if (state_.load(std::memory_order_relaxed) == State::running) {
            if (first && sleepsLong_.load(std::memory_order_relaxed)) {
                wake();
            }
        } else if (much && !platform::singleThreaded() && !alone_.load(std::memory_order_relaxed) &&
                   GranarySettings::background() == Background::automatic &&
                   GranarySettings::returnDelay() != purgeNever) {
            DeferredWork::ask(GranaryTask::start);
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
    using Background = GranarySettings::Background;
    enum class State : std::uint8_t { none, running };
    static constexpr std::uint32_t forever = UINT32_MAX;
    /// Milliseconds without work after which a thread that nothing else wants ends.
    static constexpr std::uint32_t lingering = 500;
    /// The least time in milliseconds between two looks while nothing waits.
    static constexpr std::uint32_t shortest = 10;

    /// The C library does not notice that other threads have ended, so the thread queries the
    /// system. If there are none, it is not asked again before the next first memory waits.
    [[nodiscard]] static bool isWantedNow() noexcept {
        if (wanted()) {
            return true;
        }
        alone_ = platform::threadsOfProcess() == 1;
        return GranarySettings::background() == Background::automatic && !alone_;
    }

    static void firstEnds() noexcept {
        firstHasEnded_ = true;
        wake();
    }
    using AtEnd = platform::AtThreadExit<firstEnds>;

    [[gnu::cold]] static void* attend(void* /*nothing*/) {
        std::uint32_t patience = 1; // milliseconds until it counts the threads again
        std::uint32_t idle = 0;     // milliseconds for which nothing has waited
        while (GranarySettings::background() == Background::automatic || wanted()) {
            const std::uint32_t seen = wakes_.load(std::memory_order_acquire);
            // Before it looks. Memory that waits afterwards then wakes it.
            sleepsLong_ = idle >= lingering;
            DeferredWork::look();
            std::uint32_t pause = tended();
            if (pause != forever) {
                idle = 0;
            } else if (idle < lingering) {
                pause = std::clamp(GranarySettings::returnDelay(), shortest, lingering);
                idle += pause;
            } else if (!wanted()) {
                break;
            }
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
        sleepsLong_ = false;
        state_ = State::none;
        if (wanted()) {
            start(); // it was requested again meanwhile
        }
        return nullptr;
    }

    /// Purges what is due. Returns the milliseconds until more is due.
    static std::uint32_t tended() noexcept {
        if constexpr (PurgeableHeap<Allocator>) {
            if (GranarySettings::background() != Background::off) {
                return instance<Allocator>().purgeExpired();
            }
        }
        return forever;
    }

    static inline constinit std::atomic<State> state_{State::none};
    static inline constinit std::atomic<std::uint32_t> wakes_{0};
    /// Whether the next sleep may be longer than memory may wait.
    static inline constinit std::atomic<bool> sleepsLong_{false};
    static inline constinit std::atomic<bool> alone_{false}; ///< no other thread, when last asked
    static inline constinit std::atomic<bool> firstHasEnded_{false};
    static inline constinit std::atomic<bool> watched_{false};
};

} // namespace heapwright::preload
