// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A dictionary, last in, first out.
// Cost: one word of each object; two loads and a store to take one. Removing an object from the
// middle is linear.
#pragma once

#include <heapwright/structure/list/dictionary.hpp>

#include <cstddef>
#include <new>

namespace heapwright {

class LifoList {
    struct Node {
        Node* next;
    };

public:
    static constexpr std::size_t leastObject = sizeof(Node);
    static constexpr bool bySize = false;

    constexpr LifoList() noexcept = default;

    void insert(void* object, std::size_t /*size*/) noexcept { head_ = ::new (object) Node{head_}; }

    [[nodiscard]] void* take(std::size_t /*size*/) noexcept {
        Node* const node = head_;
        if (node != nullptr) [[likely]] {
            head_ = node->next;
        }
        return node;
    }

    void remove(void* object) noexcept {
        Node** link = &head_;
        while (*link != object) {
            link = &(*link)->next;
        }
        *link = (*link)->next;
    }

    void clear() noexcept { head_ = nullptr; }

    [[nodiscard]] std::size_t count() const noexcept {
        std::size_t number = 0;
        for (const Node* node = head_; node != nullptr; node = node->next) {
            ++number;
        }
        return number;
    }

private:
    Node* head_ = nullptr;
};

static_assert(Dictionary<LifoList>);

} // namespace heapwright
