// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Formatted text as an object of a pool, of any length. APR prints into the unused end of a pool's
// block; a reap has no such end once objects are freed, so text is printed beside it, on the stack,
// and made an object when its length is known. What is longer goes on in objects that double, of
// which the last one stays, cut to its length.
//
// Cost: a copy of the text; of long ones about two. Null if there is no memory, and then the pool
// has kept nothing of it where it can free.
#pragma once

#include <apr_lib.h>

#include <heapwright/core/concepts.hpp>

#include <cstdarg>
#include <cstddef>
#include <cstring>

namespace heapwright::apr {

template <class Heap>
class PrintedText {
    /// What apr_vformatter is given; it says when it is full.
    struct Buffer : apr_vformatter_buff_t {
        PrintedText* text;
    };

public:
    explicit PrintedText(Heap& heap) noexcept : heap_(heap) {}
    PrintedText(const PrintedText&) = delete;
    PrintedText& operator=(const PrintedText&) = delete;
    ~PrintedText() = default;

    [[nodiscard]] char* print(const char* format, std::va_list arguments) {
        Buffer buffer{{start_, start_ + room_ - 1}, this}; // the last place is for the null
        if (apr_vformatter(&goOn, &buffer, format, arguments) == -1) {
            if (start_ != onStack_) {
                heap_.free(start_);
            }
            return nullptr;
        }
        *buffer.curpos = '\0';
        return kept(static_cast<std::size_t>(buffer.curpos - start_) + 1);
    }

private:
    static constexpr std::size_t firstSharedRegion = 512;

    static int goOn(apr_vformatter_buff_t* full) {
        auto* const buffer = static_cast<Buffer*>(full);
        return buffer->text->grow(*buffer) ? 0 : -1;
    }

    bool grow(Buffer& buffer) noexcept {
        const auto length = static_cast<std::size_t>(buffer.curpos - start_);
        char* const larger = moved(2 * room_, length);
        if (larger == nullptr) {
            return false;
        }
        room_ *= 2;
        start_ = larger;
        buffer.curpos = start_ + length;
        buffer.endpos = start_ + room_ - 1;
        return true;
    }

    /// What has been printed, in an object of `size` bytes; null if there is no memory.
    char* moved(std::size_t size, std::size_t length) noexcept {
        if constexpr (ResizableHeap<Heap>) {
            if (start_ != onStack_ && heap_.resize(start_, size)) {
                return start_;
            }
        }
        auto* const object = static_cast<char*>(heap_.malloc(size));
        if (object == nullptr) {
            return nullptr;
        }
        std::memcpy(object, start_, length);
        if (start_ != onStack_) {
            heap_.free(start_);
        }
        return object;
    }

    /// The text as it stays; where it cannot be made shorter it is as long as it is.
    char* kept(std::size_t length) noexcept {
        char* const object = moved(length, length);
        return object == nullptr && start_ != onStack_ ? start_ : object;
    }

    Heap& heap_;
    char onStack_[firstSharedRegion];
    char* start_ = onStack_;
    std::size_t room_ = firstSharedRegion;
};

} // namespace heapwright::apr
