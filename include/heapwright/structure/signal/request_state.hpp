// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether the calling thread is inside a heap's slow path, where locks are held and lists are half
// linked: what a signal handler must know before it uses that heap. The flag is the thread's own,
// one for all heaps of the process. What enters a heap other than through its verbs (the function
// that runs when a thread ends) marks itself in the same way.
#pragma once

#include <heapwright/platform/thread.hpp>

#include <atomic>
#include <utility>

namespace heapwright {

class SlowPath {
    using Inside = platform::PerThread<SlowPath, bool>;

public:
    [[nodiscard]] static bool entered() noexcept { return Inside::mine(); }

    /// Marks, or unmarks, the thread for longer than a scope; what it was.
    static bool mark(bool inside) noexcept {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        const bool before = std::exchange(Inside::mine(), inside);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return before;
    }

    /// Marks the thread over a scope. The fences keep the compiler, and so a handler on this
    /// thread, from seeing the heap change outside of it.
    class Entry {
    public:
        Entry() noexcept : before_(mark(true)) {}
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        ~Entry() { mark(before_); }

    private:
        bool before_;
    };
};

} // namespace heapwright
