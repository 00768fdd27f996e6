// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Formatted text of any length as an object of a pool. APR prints into the unused end of a pool's
// block. A reap has no such end once objects are freed. So the text is first printed on the stack,
// and becomes an object when its length is known. Longer text continues in objects that double in
// size. The last one is kept and cut to its length.
//
// Cost: one copy of the text, and about two for a long one. Null if there is no memory; the pool
// then keeps none of it, if it can free.
#pragma once

#include <apr_lib.h>

#include <heapwright/core/concepts.hpp>

#include <cstdarg>
#include <cstddef>
#include <cstring>

namespace heapwright::apr {

template <class Heap>
class PrintedText {
    /// The buffer of apr_vformatter, which calls back when it is full.
    struct Buffer : apr_vformatter_buff_t {
        PrintedText* text;
    };

public:
    explicit PrintedText(Heap& heap) noexcept : heap_(heap) {}
    PrintedText(const PrintedText&) = delete;
    PrintedText& operator=(const PrintedText&) = delete;
    ~PrintedText() = default;

    [[nodiscard]] char* print(const char* format, std::va_list arguments) {
        // The last byte is for the terminating null.
        Buffer buffer{{start_, start_ + room_ - 1}, this};
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

    /// Moves the printed text to an object of `size` bytes; null if there is no memory.
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

    /// The final text. If it cannot be shortened, it keeps its size.
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
