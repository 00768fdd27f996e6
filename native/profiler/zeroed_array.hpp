// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A long array of zeros straight from the system. Untouched pages cost nothing. Large pages are
// used where the system has them. Released pages are free at once.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <heapwright/platform/huge_pages.hpp>
#include <heapwright/platform/pages.hpp>

namespace heapwright::profiler {

/// `Element` must be valid when all its bytes are zero.
template <typename Element>
class ZeroedArray {
    static_assert(std::is_trivially_copyable_v<Element>);

public:
    ZeroedArray() = default;
    explicit ZeroedArray(std::size_t count) : count_(count) {
        const std::size_t huge = platform::hugePageSize();
        bytes_ = count * sizeof(Element);
        if (bytes_ >= huge)
            bytes_ = (bytes_ + huge - 1) & ~(huge - 1);
        void* const at = bytes_ < huge ? platform::mapPages(bytes_)
                                       : platform::AdvisedHugePages::map(bytes_, huge, 0);
        if (at == nullptr)
            throw std::bad_alloc();
        elements_ = static_cast<Element*>(at);
    }
    ~ZeroedArray() {
        if (elements_ != nullptr)
            platform::unmapPages(elements_, bytes_);
    }
    ZeroedArray(ZeroedArray&& other) noexcept
        : elements_(std::exchange(other.elements_, nullptr)),
          count_(std::exchange(other.count_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}
    ZeroedArray& operator=(ZeroedArray&& other) noexcept {
        std::swap(elements_, other.elements_);
        std::swap(count_, other.count_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    std::size_t size() const { return count_; }
    Element* begin() { return elements_; }
    Element* end() { return elements_ + count_; }
    const Element* begin() const { return elements_; }
    const Element* end() const { return elements_ + count_; }
    Element& operator[](std::size_t at) { return elements_[at]; }
    const Element& operator[](std::size_t at) const { return elements_[at]; }

private:
    Element* elements_ = nullptr;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0; ///< that are mapped
};

} // namespace heapwright::profiler
