// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The bump pointer as a library to preload, libheapwright-limit.so, so that its instructions can be
// counted as for any allocator. It counts live objects without atomic instructions, so it is only
// for programs in which one thread at a time allocates. It is not for production. It does not
// record sizes, so it has no malloc_usable_size.
//
// Cost: two instructions above the minimum. The calls go through pointers that the first call of
// each sets, so there is no test.
#include "bump.hpp"

#include <cerrno>

namespace {

using namespace heapwright::workloads;

void set();

void* firstMalloc(std::size_t size) noexcept;
void firstFree(void* object) noexcept;
void* firstCalloc(std::size_t count, std::size_t size) noexcept;
void* firstRealloc(void* object, std::size_t size) noexcept;
void* firstMemalign(std::size_t alignment, std::size_t size) noexcept;

constinit Calls limit{firstMalloc,   firstFree,   firstCalloc, firstRealloc,
                      firstMemalign, firstMalloc, firstFree};

void set() {
    limit = bumpCalls(true);
}

void* firstMalloc(std::size_t size) noexcept {
    set();
    return limit.malloc(size);
}

void firstFree(void* object) noexcept {
    set();
    limit.free(object);
}

void* firstCalloc(std::size_t count, std::size_t size) noexcept {
    set();
    return limit.calloc(count, size);
}

void* firstRealloc(void* object, std::size_t size) noexcept {
    set();
    return limit.realloc(object, size);
}

void* firstMemalign(std::size_t alignment, std::size_t size) noexcept {
    set();
    return limit.memalign(alignment, size);
}

} // namespace

extern "C" {

void* malloc(std::size_t size) {
    return limit.malloc(size);
}

void free(void* object) {
    limit.free(object);
}

void* calloc(std::size_t count, std::size_t size) {
    return limit.calloc(count, size);
}

void* realloc(void* object, std::size_t size) {
    return limit.realloc(object, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
    return limit.memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return limit.memalign(alignment, size);
}

int posix_memalign(void** object, std::size_t alignment, std::size_t size) {
    void* const made = limit.memalign(alignment, size);
    if (made == nullptr) {
        return ENOMEM;
    }
    *object = made;
    return 0;
}
}
