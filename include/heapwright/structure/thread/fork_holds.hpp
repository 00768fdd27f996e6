// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds several heaps over a fork, each with a lock of its own, always in the same order, and
// releases them in the opposite order.
//
// The thread may already hold one of them, in a signal handler that interrupted a request. That one
// is skipped and left as it is in parent and child. This works for one such handler at a time. It
// does not work if the interrupted request holds a lock further down for which other threads wait
// inside their heaps. A function enumerates the heaps: `visit(index, body)` runs `body` on one of
// them.
#pragma once

#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/platform/thread.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heapwright {

template <std::size_t Count>
class ForkHolds {
public:
    template <class Visit>
    void hold(Visit visit) noexcept {
        const bool first = holdOne(0, visit);
        ++forks_; // the holder of the first heap may write this
        const std::uint32_t fork = bitOf(forks_);
        if (first) {
            holders_[0] |= fork;
        }
        for (std::size_t i = 1; i < Count; ++i) {
            if (holdOne(i, visit)) {
                holders_[i] |= fork;
            }
        }
    }

    /// Runs `letGoOne` on what the latest fork holds, the first heap last.
    template <class Visit, class LetGo>
    void letGo(Visit visit, LetGo letGoOne) noexcept {
        const std::uint32_t fork = bitOf(forks_);
        for (std::size_t i = Count; i-- > 0;) {
            forks_ -= i == 0 ? 1U : 0U;
            if ((holders_[i] & fork) != 0) {
                holders_[i] &= ~fork;
                visit(i, letGoOne);
            }
        }
    }

private:
    /// Holds a heap unless this thread already does; returns whether it took it.
    template <class Visit>
    static bool holdOne(std::size_t index, Visit visit) noexcept {
        bool had = false;
        visit(index, [&had](auto& heap) {
            if constexpr (ReentryDetecting<std::remove_reference_t<decltype(heap)>>) {
                had = !platform::singleThreaded() && heap.heldByThisThread();
            }
            if (!had) {
                heap.beforeFork();
            }
        });
        return !had;
    }

    static constexpr std::uint32_t bitOf(std::uint32_t fork) noexcept {
        return std::uint32_t{1} << (fork % 32);
    }

    /// A bit for each fork that holds the heap: several if the heap itself distinguishes them.
    std::array<std::uint32_t, Count> holders_{};
    std::uint32_t forks_ = 0; ///< depth of nested forks of one thread
};

} // namespace heapwright
