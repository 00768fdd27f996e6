// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Chunks on a stack. Each starts with a link to the one below and the address of its end. All
// chunks can thus be freed newest first, and searched for an address.
//
// Invariant: the bytes between a chunk's header and its end are the owner's.
// Cost: 16 bytes for each chunk; `owns` is linear.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/poison.hpp>

#include <cstddef>
#include <new>

namespace heapwright {

/// The header of a chunk.
struct StackedChunk {
    StackedChunk* below;
    Address end;

    [[nodiscard]] Address first() const noexcept { return addressOf(this) + sizeof(StackedChunk); }
    /// Includes the end, where an object without bytes may be.
    [[nodiscard]] bool holds(const void* object) const noexcept {
        return addressOf(object) - first() <= end - first();
    }
};

static_assert(sizeof(StackedChunk) == minAlignment);

class ChunkStack {
public:
    /// The bytes of a chunk that its owner cannot use.
    static constexpr std::size_t overhead = sizeof(StackedChunk);

    [[nodiscard]] StackedChunk* top() const noexcept { return top_; }

    /// Makes `memory`, of `size` bytes, the newest chunk.
    StackedChunk* push(void* memory, std::size_t size) noexcept {
        top_ = ::new (memory) StackedChunk{top_, addressOf(memory) + size};
        return top_;
    }

    /// Removes the newest chunk.
    /// Pre: there is one.
    StackedChunk* pop() noexcept {
        StackedChunk* const chunk = top_;
        top_ = chunk->below;
        return chunk;
    }

    /// Unpoisons the memory of all chunks before they are freed.
    void unpoison() const noexcept {
        if constexpr (platform::poisons) {
            for (StackedChunk* chunk = top_; chunk != nullptr; chunk = chunk->below) {
                platform::unpoison(chunk, chunk->end - addressOf(chunk));
            }
        }
    }

    /// Removes all chunks and calls `release` with each, newest first.
    template <class Release>
    void popAll(Release release) noexcept {
        StackedChunk* chunk = top_;
        top_ = nullptr;
        while (chunk != nullptr) {
            StackedChunk* const below = chunk->below;
            release(chunk);
            chunk = below;
        }
    }

    [[nodiscard]] bool owns(const void* object) const noexcept {
        for (const StackedChunk* chunk = top_; chunk != nullptr; chunk = chunk->below) {
            if (chunk->holds(object)) {
                return true;
            }
        }
        return false;
    }

private:
    StackedChunk* top_ = nullptr;
};

} // namespace heapwright
