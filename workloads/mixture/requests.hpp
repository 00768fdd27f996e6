// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Random requests of every kind in C and C++.
#pragma once

#include <heapwright/core/random.hpp>

#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

/// An object and how it has to be freed.
struct Object {
    void* address = nullptr;
    std::size_t size = 0;
    bool isNew = false; ///< from operator new, so for operator delete
};

/// operator new that does not throw, and delete.
void* newObject(std::size_t size);
void deleteObject(void* object);

/// Mostly small, seldom large, sometimes 0.
std::size_t randomSize(Random& random, std::size_t largest);

Object randomObject(Random& random, std::size_t largest);
void freeObject(const Object& object);

/// Resizes an object from malloc or a similar function.
void resizeObject(Object& object, Random& random, std::size_t largest);

} // namespace heapwright::workloads
