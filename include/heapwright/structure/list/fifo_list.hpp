// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A dictionary, first in, first out, so that an object is reused as late as possible. It is doubly
// linked through two words of each object, so any object can be removed in constant time.
#pragma once

#include <heapwright/structure/list/dictionary.hpp>

#include <cstddef>
#include <new>

namespace heapwright {

/// Invariant: `next` of a node and `previous` of its successor are inverse. The first has no
/// previous and the last no next.
class FifoList {
    struct Node {
        Node* next;
        Node* previous;
    };

public:
    static constexpr std::size_t leastObject = sizeof(Node);
    static constexpr bool bySize = false;

    constexpr FifoList() noexcept = default;

    void insert(void* object, std::size_t /*size*/) noexcept {
        Node* const node = ::new (object) Node{nullptr, last_};
        (last_ != nullptr ? last_->next : first_) = node;
        last_ = node;
    }

    [[nodiscard]] void* take(std::size_t /*size*/) noexcept {
        Node* const node = first_;
        if (node != nullptr) [[likely]] {
            first_ = node->next;
            (first_ != nullptr ? first_->previous : last_) = nullptr;
        }
        return node;
    }

    void remove(void* object) noexcept {
        Node* const node = static_cast<Node*>(object);
        (node->previous != nullptr ? node->previous->next : first_) = node->next;
        (node->next != nullptr ? node->next->previous : last_) = node->previous;
    }

    void clear() noexcept { first_ = last_ = nullptr; }

    [[nodiscard]] std::size_t count() const noexcept {
        std::size_t number = 0;
        for (const Node* node = first_; node != nullptr; node = node->next) {
            ++number;
        }
        return number;
    }

private:
    Node* first_ = nullptr;
    Node* last_ = nullptr;
};

static_assert(Dictionary<FifoList>);

} // namespace heapwright
