// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The policies of a measuring replay: which bytes of a new object are written. Programs write to
// the memory that they allocate. `none` measures the allocator alone and so favours allocators that
// save on locality.
#pragma once

#include "trace/event.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright::replayer {

enum class Touch { none, firstByte, all, recordedSize };

/// The malloc_usable_size of the allocator under test. Null if it has none.
using UsableSize = std::size_t (*)(void* object);

template <Touch touch, bool isTimed>
struct TouchPolicy {
    static constexpr bool timed = isTimed;
    UsableSize usableSize = nullptr;

    void allocated(trace::Routine /*routine*/, void* object, std::size_t size,
                   std::size_t /*alignment*/) const {
        if constexpr (touch != Touch::none) {
            if (object != nullptr) {
                write(object, 0, size);
            }
        }
    }

    void reallocated(void* object, std::size_t oldSize, std::size_t size, bool /*released*/) const {
        if constexpr (touch != Touch::none) {
            if (object != nullptr) {
                write(object, oldSize < size ? oldSize : size, size);
            }
        }
    }

    void freeing(void* /*object*/, std::size_t /*size*/, bool /*recorded*/) const {}
    void reallocating(void* /*object*/, std::size_t /*size*/) const {}
    void reallocFailed(void* /*object*/, std::size_t /*size*/) const {}
    void skipped() const {}
    void reallocReleased(std::size_t /*size*/) const {}

private:
    /// Writes the bytes from `from` on. The bytes before it hold contents already.
    void write(void* object, std::size_t from, std::size_t size) const {
        constexpr int some = 0x5a;
        char* const bytes = static_cast<char*>(object);
        if constexpr (touch == Touch::firstByte) {
            if (size != 0) {
                *static_cast<volatile char*>(bytes) = some;
            }
        } else {
            std::size_t end = size;
            if (touch == Touch::all && usableSize != nullptr) {
                const std::size_t usable = usableSize(object);
                end = usable > size ? usable : size;
            }
            if (end > from) {
                std::memset(bytes + from, some, end - from);
            }
        }
    }
};

} // namespace heapwright::replayer
