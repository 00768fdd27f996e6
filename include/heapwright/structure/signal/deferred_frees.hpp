// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Frees that a signal handler could not perform, because it had interrupted the heap. The objects
// are linked through their first word. A later request, of any thread, frees them.
// docs/explanation/signals.md shows in which states an object is added and when the list is
// drained.
//
// Adding one object and taking all are one atomic step each. So any thread and any handler may do
// either at any time.
//
// Pre: each object has room for a pointer.
// Cost: a load for a request that finds the list empty.
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
        auto* const node = ::new (object) Node{first_.load(std::memory_order_relaxed)};
        while (!first_.compare_exchange_weak(node->next, node, std::memory_order_release,
                                             std::memory_order_relaxed)) {
        }
    }

    /// Runs `release` on each object of the list. Objects added meanwhile stay in the list.
    template <class Release>
    void drain(Release release) noexcept {
        if (any()) [[unlikely]] {
            releaseAll(release);
        }
    }

private:
    struct Node {
        Node* next;
    };

    template <class Release>
    [[gnu::cold, gnu::noinline]] void releaseAll(Release release) noexcept {
        Node* object = first_.exchange(nullptr, std::memory_order_acquire);
        while (object != nullptr) {
            Node* const next = object->next;
            release(object);
            object = next;
        }
    }

    std::atomic<Node*> first_{nullptr};
};

} // namespace heapwright
