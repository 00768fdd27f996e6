// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Chunks on a stack: each starts with a link to the one below it and the address where it ends, so
// that all can be given back, the newest first, and an address can be asked for.
//
// Invariant: what lies between a chunk's header and its end is the owner's. Cost: 16 bytes a chunk;
// `owns` walks.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/poison.hpp>

#include <cstddef>
#include <new>

namespace heapwright {

/// Stands at the start of a chunk.
struct StackedChunk {
    StackedChunk* below;
    Address end;

    [[nodiscard]] Address first() const noexcept { return addressOf(this) + sizeof(StackedChunk); }
    /// An object without bytes may stand at the very end.
    [[nodiscard]] bool holds(const void* object) const noexcept {
        return addressOf(object) - first() <= end - first();
    }
};

static_assert(sizeof(StackedChunk) == minAlignment);

class ChunkStack {
public:
    /// What a chunk does not give its owner.
    static constexpr std::size_t overhead = sizeof(StackedChunk);

    [[nodiscard]] StackedChunk* top() const noexcept { return top_; }

    /// Makes `memory`, of `size` bytes, the newest chunk.
    StackedChunk* push(void* memory, std::size_t size) noexcept {
        top_ = ::new (memory) StackedChunk{top_, addressOf(memory) + size};
        return top_;
    }

    /// Takes the newest chunk off. Pre: there is one.
    StackedChunk* pop() noexcept {
        StackedChunk* const chunk = top_;
        top_ = chunk->below;
        return chunk;
    }

    /// Makes all memory of the chunks somebody's before it goes back.
    void unpoison() const noexcept {
        if constexpr (platform::poisons) {
            for (StackedChunk* chunk = top_; chunk != nullptr; chunk = chunk->below) {
                platform::unpoison(chunk, chunk->end - addressOf(chunk));
            }
        }
    }

    /// Takes all chunks off and calls `release` with each, the newest first.
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
