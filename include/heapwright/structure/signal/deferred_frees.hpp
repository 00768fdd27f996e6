// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Objects that were freed by somebody who may not enter the heap, a signal handler that interrupted
// it, and wait until somebody enters who may. They are linked through themselves; adding one and
// taking all are an atomic step each, so any thread and any handler may do either at any time.
//
// Pre: each object has room for a pointer. Cost: a load for who looks and finds nothing.
#pragma once

#include <atomic>
#include <new>

namespace heapwright {

class DeferredFrees {
public:
    [[nodiscard]] bool any() const noexcept {
        return first_.load(std::memory_order_relaxed) != nullptr;
    }

    void add(void* object) noexcept {
        auto* const waiting = ::new (object) Waiting{first_.load(std::memory_order_relaxed)};
        while (!first_.compare_exchange_weak(waiting->next, waiting, std::memory_order_release,
                                             std::memory_order_relaxed)) {
        }
    }

    /// Runs `release` on each that waits; what comes meanwhile waits on.
    template <class Release>
    void workOff(Release release) noexcept {
        if (any()) [[unlikely]] {
            releaseAll(release);
        }
    }

private:
    struct Waiting {
        Waiting* next;
    };

    template <class Release>
    [[gnu::cold, gnu::noinline]] void releaseAll(Release release) noexcept {
        Waiting* object = first_.exchange(nullptr, std::memory_order_acquire);
        while (object != nullptr) {
            Waiting* const next = object->next;
            release(object);
            object = next;
        }
    }

    std::atomic<Waiting*> first_{nullptr};
};

} // namespace heapwright
