// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads single words of a range through a buffer, which grows while the words follow each other.
// Cost: a comparison for a word in the buffer.
#pragma once

#include "image.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace heapwright::look {

class Window {
public:
    Window(const Image& image, Address begin, Address end)
        : image_(image), begin_(begin), end_(end), buffer_(most) {}

    /// 0 outside of the range.
    std::uint64_t word(Address at) {
        if (at < at_ || at + sizeof(std::uint64_t) > at_ + held_) {
            if (at < begin_ || at + sizeof(std::uint64_t) > end_) {
                return 0;
            }
            load(at);
        }
        std::uint64_t value = 0;
        std::memcpy(&value, buffer_.data() + (at - at_), sizeof value);
        return value;
    }

    /// Reads again from the image.
    void forget() { held_ = 0; }

private:
    static constexpr std::size_t least = 4 * pageBytes;
    static constexpr std::size_t most = 256 * pageBytes;

    void load(Address at) {
        const Address first = std::max(pageDown(at), begin_);
        const bool follows = first >= at_ && first <= at_ + held_ + pageBytes && held_ != 0;
        step_ = follows ? std::min(most, 2 * step_) : least;
        at_ = first;
        held_ = std::min<std::uint64_t>(step_, end_ - first);
        image_.read(at_, buffer_.data(), held_);
    }

    const Image& image_;
    Address begin_;
    Address end_;
    std::vector<char> buffer_;
    Address at_ = 0;
    std::size_t held_ = 0;
    std::size_t step_ = least;
};

} // namespace heapwright::look
