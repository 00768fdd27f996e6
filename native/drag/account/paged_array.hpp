// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An array that grows and whose elements never move: chunks of pages straight from the system. It
// asks no malloc for anything, so it serves inside a program whose malloc is watched. Elements
// begin as zero bytes. Reading one that is there is safe while another thread makes a new one.
#pragma once

#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/pages.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heapwright::drag {

/// There is no going on without memory for the account.
[[noreturn]] inline void abortWithoutMemory() {
    platform::abortWithMessage("drag", "no memory left for the account");
}

/// Zero bytes, of which little may ever be touched.
inline void* takePages(std::size_t bytes) {
    void* const pages = platform::reservePages(bytes);
    if (pages == nullptr) {
        abortWithoutMemory();
    }
    return pages;
}

template <typename Element>
class PagedArray {
    static_assert(std::is_trivially_destructible_v<Element>);

public:
    PagedArray() = default;
    PagedArray(const PagedArray&) = delete;
    PagedArray& operator=(const PagedArray&) = delete;
    ~PagedArray() {
        for (const auto& chunk : chunks_) {
            if (Element* const pages = chunk.load(std::memory_order_relaxed)) {
                platform::unmapPages(pages, chunkBytes);
            }
        }
    }

    /// An element that was made.
    Element& operator[](std::uint32_t index) {
        return chunks_[index / perChunk].load(std::memory_order_acquire)[index % perChunk];
    }
    const Element& operator[](std::uint32_t index) const {
        return chunks_[index / perChunk].load(std::memory_order_acquire)[index % perChunk];
    }

    /// The same, made if it is not there. One thread at a time.
    Element& make(std::uint32_t index) {
        if (index / perChunk >= mostChunks) {
            platform::abortWithMessage("drag", "more objects than the account can number");
        }
        auto& chunk = chunks_[index / perChunk];
        if (chunk.load(std::memory_order_relaxed) == nullptr) {
            chunk.store(static_cast<Element*>(takePages(chunkBytes)), std::memory_order_release);
        }
        return (*this)[index];
    }

    /// Whether it is certain that the element is there.
    bool has(std::uint32_t index) const {
        return index / perChunk < mostChunks &&
               chunks_[index / perChunk].load(std::memory_order_acquire) != nullptr;
    }

private:
    static constexpr std::uint32_t perChunk = 1 << 16;
    static constexpr std::uint32_t mostChunks = 1 << 13; ///< half a thousand million elements
    static constexpr std::size_t chunkBytes = perChunk * sizeof(Element);

    std::atomic<Element*> chunks_[mostChunks] = {};
};

} // namespace heapwright::drag
