// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A contiguous array that grows, in pages from the system, which moves them without copying.
#pragma once

#include "drag/account/paged_array.hpp"

#include <cstddef>
#include <type_traits>

namespace heapwright::drag {

template <typename Element>
class PageVector {
    static_assert(std::is_trivially_copyable_v<Element>);

public:
    PageVector() = default;
    PageVector(const PageVector&) = delete;
    PageVector& operator=(const PageVector&) = delete;
    ~PageVector() {
        if (elements_ != nullptr) {
            platform::unmapPages(elements_, bytes_);
        }
    }

    void push(const Element& element) {
        if ((size_ + 1) * sizeof(Element) > bytes_) {
            grow();
        }
        elements_[size_++] = element;
    }
    /// Keeps the first `size` elements.
    /// Pre: there are that many.
    void shorten(std::size_t size) { size_ = size; }

    std::size_t size() const { return size_; }
    Element* begin() { return elements_; }
    Element* end() { return elements_ + size_; }
    const Element* begin() const { return elements_; }
    const Element* end() const { return elements_ + size_; }
    Element& operator[](std::size_t at) { return elements_[at]; }
    const Element& operator[](std::size_t at) const { return elements_[at]; }

private:
    static constexpr std::size_t firstBytes = 64 * KiB;

    void grow() {
        if (elements_ == nullptr) {
            elements_ = static_cast<Element*>(takePages(firstBytes));
            bytes_ = firstBytes;
            return;
        }
        void* const moved = platform::movePages(elements_, bytes_, 2 * bytes_);
        if (moved == nullptr) {
            abortWithoutMemory();
        }
        elements_ = static_cast<Element*>(moved);
        bytes_ *= 2;
    }

    Element* elements_ = nullptr;
    std::size_t size_ = 0;
    std::size_t bytes_ = 0;
};

} // namespace heapwright::drag
