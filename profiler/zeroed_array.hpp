// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A long array of zeros straight from the system: pages that nobody touches cost nothing, large
// ones come in large pages where the system has them, and what is let go is gone at once.
#pragma once

#include <cstddef>
#include <new>
#include <sys/mman.h>
#include <type_traits>
#include <utility>

namespace heapwright::profile {

/// `Element` must be valid when all its bytes are zero.
template <typename Element>
class ZeroedArray {
    static_assert(std::is_trivially_copyable_v<Element>);

public:
    ZeroedArray() = default;
    explicit ZeroedArray(std::size_t count) : count_(count) {
        void* const at =
            ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            throw std::bad_alloc();
        if (bytes() >= large)
            ::madvise(at, bytes(), MADV_HUGEPAGE);
        elements_ = static_cast<Element*>(at);
    }
    ~ZeroedArray() {
        if (elements_ != nullptr)
            ::munmap(elements_, bytes());
    }
    ZeroedArray(ZeroedArray&& other) noexcept
        : elements_(std::exchange(other.elements_, nullptr)),
          count_(std::exchange(other.count_, 0)) {}
    ZeroedArray& operator=(ZeroedArray&& other) noexcept {
        std::swap(elements_, other.elements_);
        std::swap(count_, other.count_);
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
    static constexpr std::size_t large = 4 << 20;

    std::size_t bytes() const { return count_ * sizeof(Element); }

    Element* elements_ = nullptr;
    std::size_t count_ = 0;
};

} // namespace heapwright::profile
