// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An array that grows without moving its elements: chunks of pages from the system. It does not
// call malloc, so it works inside a program whose malloc it observes. New elements are zero bytes.
// A thread may read an element while another one adds elements.
#pragma once

#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/pages.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heapwright::drag {

/// The account cannot continue without memory.
[[noreturn]] inline void abortWithoutMemory() {
    platform::abortWithMessage("drag", "no memory left for the account");
}

/// Zero bytes, mostly never touched.
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

    /// An existing element.
    Element& operator[](std::uint32_t index) {
        return chunks_[index / perChunk].load(std::memory_order_acquire)[index % perChunk];
    }
    const Element& operator[](std::uint32_t index) const {
        return chunks_[index / perChunk].load(std::memory_order_acquire)[index % perChunk];
    }

    /// The element, which is added if needed. For one thread at a time.
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

    /// Whether the element certainly exists.
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
