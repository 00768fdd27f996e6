// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A doubly linked ring with a head that is no element. Adding at the back, walking from the front,
// and removing an element take constant time. A removal needs no reference to the ring.
#pragma once

namespace heapwright {

/// The links inside an element.
struct RingNode {
    RingNode* next;
    RingNode* previous;
};

/// Invariant: a ring of zero bytes has never been used. `reset` makes it an empty one.
class Ring {
public:
    constexpr Ring() noexcept = default;
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring() = default;

    void reset() noexcept { head_.next = head_.previous = &head_; }

    [[nodiscard]] bool empty() const noexcept { return head_.next == &head_; }
    [[nodiscard]] RingNode* front() const noexcept { return head_.next; }
    [[nodiscard]] RingNode* back() const noexcept { return head_.previous; }
    /// The end of a walk from `front` along `next`.
    [[nodiscard]] const RingNode* end() const noexcept { return &head_; }
    [[nodiscard]] RingNode* end() noexcept { return &head_; }

    void addBack(RingNode* node) noexcept { addBefore(&head_, node); }

    static void addBefore(RingNode* place, RingNode* node) noexcept {
        node->next = place;
        node->previous = place->previous;
        place->previous->next = node;
        place->previous = node;
    }

    static void remove(RingNode* node) noexcept {
        node->previous->next = node->next;
        node->next->previous = node->previous;
    }

private:
    RingNode head_{nullptr, nullptr};
};

} // namespace heapwright
