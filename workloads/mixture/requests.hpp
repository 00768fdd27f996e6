// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Random requests, of every kind that C and C++ know.
#pragma once

#include <heapwright/core/random.hpp>

#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

/// An object and how it wants to be freed.
struct Object {
    void* address = nullptr;
    std::size_t size = 0;
    bool isNew = false; ///< by operator new, and so by operator delete
};

/// operator new that does not throw, and delete.
void* newObject(std::size_t size);
void deleteObject(void* object);

/// Mostly small, seldom large, now and then 0.
std::size_t randomSize(Random& random, std::size_t largest);

Object randomObject(Random& random, std::size_t largest);
void freeObject(const Object& object);

/// Another size for an object that malloc's kin gave out.
void resizeObject(Object& object, Random& random, std::size_t largest);

} // namespace heapwright::workloads
