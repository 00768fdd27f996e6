// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The load on the layer. Without memory it ends the program, as the C library's obstacks do.
#include <heapwright/core/immortal.hpp>
#include <heapwright/layers/region/obstack_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>

#include <cstdlib>

namespace {

using Stack = heapwright::ObstackHeap<4 * heapwright::KiB, heapwright::MallocHeap>;
constinit heapwright::Immortal<Stack> stack;

void need(bool done) {
    if (!done) [[unlikely]] {
        std::abort();
    }
}

void* needed(void* object) {
    need(object != nullptr);
    return object;
}

} // namespace

#define GROW_CHAR(c) need(stack.object.grow(c))
#define GROW(bytes, size) need(stack.object.grow((bytes), (size)))
#define FINISH() stack.object.finish() // an object with bytes needs no memory
#define ALLOCATE(size) needed(stack.object.malloc(size))
#define FREE(object_) stack.object.free(object_)
#include "parse.h"
