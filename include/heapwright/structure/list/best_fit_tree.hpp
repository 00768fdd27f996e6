// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A dictionary ordered by size: a request takes the smallest object that is large enough, at the
// lowest address among equals.
// Cost: three words of each object; expected O(log n) for each operation.
#pragma once

#include <heapwright/structure/fit/fit_tree.hpp>
#include <heapwright/structure/list/dictionary.hpp>

#include <cstddef>
#include <new>

namespace heapwright {

class BestFitTree {
    struct Node {
        Node* left;
        Node* right;
        std::size_t bytes;

        [[nodiscard]] std::size_t size() const noexcept { return bytes; }
    };

public:
    static constexpr std::size_t leastObject = sizeof(Node);
    static constexpr bool bySize = true;

    constexpr BestFitTree() noexcept = default;

    void insert(void* object, std::size_t size) noexcept {
        tree_.insert(::new (object) Node{nullptr, nullptr, size});
        ++count_;
        bytes_ += size;
    }

    [[nodiscard]] void* take(std::size_t size) noexcept {
        Node* const node = tree_.bestFit(size);
        if (node != nullptr) {
            removeNode(node);
        }
        return node;
    }

    void remove(void* object) noexcept { removeNode(static_cast<Node*>(object)); }

    void clear() noexcept {
        tree_.clear();
        count_ = bytes_ = 0;
    }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    void removeNode(Node* node) noexcept {
        tree_.remove(node);
        --count_;
        bytes_ -= node->bytes;
    }

    FitTree<Node> tree_;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
};

static_assert(Dictionary<BestFitTree>);

} // namespace heapwright
