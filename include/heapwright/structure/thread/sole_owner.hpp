// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The one thread that may change a structure: the first one that claims it. A signal handler may
// interrupt the owner in the middle of a change. The structure is then not the owner's until the
// change is over. Other threads, and such a handler, must use atomic variables beside it.
// Cost: a thread-local load and two compares; two stores for a change.
#pragma once

#include <heapwright/platform/thread.hpp>

#include <atomic>
#include <cstdint>

namespace heapwright {

class SoleOwner {
public:
    /// A change by the owner. The fences keep the change inside the scope, as a handler on this
    /// thread sees it.
    /// Pre: `isMine` of the calling thread.
    class Change {
    public:
        explicit Change(SoleOwner& owner) noexcept : busy_(owner.busy_) {
            busy_.store(true, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
        Change(const Change&) = delete;
        Change& operator=(const Change&) = delete;
        ~Change() {
            std::atomic_signal_fence(std::memory_order_seq_cst);
            busy_.store(false, std::memory_order_relaxed);
        }

    private:
        std::atomic<bool>& busy_;
    };

    /// Whether the calling thread is the owner, and has not been interrupted in a change.
    [[nodiscard]] bool isMine() const noexcept {
        return thread_.load(std::memory_order_relaxed) == platform::threadNumber() + 1 &&
               !busy_.load(std::memory_order_relaxed);
    }

    /// The same. The first thread that asks becomes the owner.
    [[nodiscard]] bool isOrBecomesMine() noexcept { return isMine() || claim(); }

private:
    static constexpr std::uint32_t none = 0;

    [[nodiscard, gnu::cold, gnu::noinline]] bool claim() noexcept {
        std::uint32_t thread = none;
        return thread_.compare_exchange_strong(thread, platform::threadNumber() + 1,
                                               std::memory_order_relaxed);
    }

    std::atomic<std::uint32_t> thread_{none}; ///< 1 + its number
    std::atomic<bool> busy_{false};
};

} // namespace heapwright
