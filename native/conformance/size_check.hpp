// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks the sizes that a heap reports of its objects. The usable bytes of live objects must not
// overlap, and writing all of them must change no other object.
//
// The case `usable-size` checks the process's malloc. `heapwright compose` checks a heap whose
// getSize is hidden below a SizeHeap. This file includes only the standard library.
#pragma once

#include <cstddef>
#include <cstring>

namespace conformance {

constexpr int neighbours = 16;

struct SizedObject {
    unsigned char* bytes;
    std::size_t room; ///< usable bytes that the heap reports
};

inline bool overlap(const SizedObject& one, const SizedObject& other) {
    const bool below = one.bytes + one.room <= other.bytes;
    const bool above = other.bytes + other.room <= one.bytes;
    return !below && !above;
}

/// Whether every byte of an object has the value.
inline bool holds(const SizedObject& object, unsigned char value) {
    for (std::size_t at = 0; at < object.room; ++at) {
        if (object.bytes[at] != value) {
            return false;
        }
    }
    return true;
}

/// The first wrong usable size among live objects, as a message; null if there is none. Fills all
/// usable bytes.
template <class Heap>
const char* wrongRooms(Heap& heap, const SizedObject* objects, int count, std::size_t size) {
    for (int i = 0; i < count; ++i) {
        if (objects[i].room < size) {
            return "the usable size is below the request";
        }
        for (int j = 0; j < i; ++j) {
            if (size != 0 && overlap(objects[i], objects[j])) {
                return "the usable size is too large: it reaches into another live object";
            }
        }
    }
    for (int i = 0; i < count; ++i) {
        std::memset(objects[i].bytes, i + 1, objects[i].room);
    }
    for (int i = 0; i < count; ++i) {
        if (!holds(objects[i], static_cast<unsigned char>(i + 1))) {
            return "the usable size is too large: writing an object changed another one";
        }
        if (heap.getSize(objects[i].bytes) != objects[i].room) {
            return "the usable size changed when the object was written";
        }
    }
    return nullptr;
}

/// The error in the reported sizes of objects of one size; null if there is none. The heap has
/// `malloc`, `free` and `getSize`. Objects are freed in reverse order; after an error they stay.
template <class Heap>
const char* wrongSize(Heap& heap, std::size_t size) {
    SizedObject objects[neighbours];
    int count = 0;
    for (; count < neighbours; ++count) {
        void* const object = heap.malloc(size);
        if (object == nullptr) {
            break;
        }
        objects[count] = {static_cast<unsigned char*>(object), heap.getSize(object)};
    }
    const char* const fault = wrongRooms(heap, objects, count, size);
    while (fault == nullptr && count > 0) {
        heap.free(objects[--count].bytes);
    }
    return fault;
}

} // namespace conformance
