// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The policies of a measuring replay: what is written into an object when it is given. A program
// writes what it asks for, so `none`, which measures the allocator alone, flatters those that save
// on memory's locality.
#pragma once

#include "trace/event.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright::replayer {

enum class Touch { none, firstByte, all, recordedSize };

/// The usable size of an object in the allocator under test; null if that does not tell.
using UsableSize = std::size_t (*)(void* object);

template <Touch touch, bool isTimed>
struct Touching {
    static constexpr bool timed = isTimed;
    UsableSize usableSize = nullptr;

    void gave(trace::Routine /*routine*/, void* object, std::size_t size,
              std::size_t /*alignment*/) const {
        if constexpr (touch != Touch::none) {
            if (object != nullptr) {
                write(object, 0, size);
            }
        }
    }

    void resized(void* object, std::size_t oldSize, std::size_t size, bool /*released*/) const {
        if constexpr (touch != Touch::none) {
            if (object != nullptr) {
                write(object, oldSize < size ? oldSize : size, size);
            }
        }
    }

    void takes(void* /*object*/, std::size_t /*size*/, bool /*recorded*/) const {}
    void resizes(void* /*object*/, std::size_t /*size*/) const {}
    void kept(void* /*object*/, std::size_t /*size*/) const {}
    void skipped() const {}
    void releasing(std::size_t /*size*/) const {}

private:
    /// What is there already need not be written again.
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
