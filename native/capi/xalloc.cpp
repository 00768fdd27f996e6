// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Xalloc for C, over the structure of XallocHeap. Here the size of an area is a run-time value,
// there it is part of the type.
#include <heapwright/c/xalloc.h>

#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/structure/area/xalloc_area.hpp>

#include <cstdlib>
#include <cstring>
#include <new>

/// Lies at the start of its own memory, with the area behind it.
struct heapwright_xarea {
    heapwright::XallocArea area;
};

namespace {

using namespace heapwright;

constexpr std::size_t headBytes = roundUp(sizeof(heapwright_xarea), minAlignment);

constinit XallocArea programs; // the program's area, empty before it is taken

/// Moves an object to the end and copies the bytes that both sizes have.
void* moved(XallocArea& area, void* object, std::size_t oldSize, std::size_t size) noexcept {
    void* const place = area.malloc(size);
    if (place != nullptr) {
        std::memcpy(place, object, oldSize < size ? oldSize : size);
        area.free(object);
    }
    return place;
}

void* resized(XallocArea& area, void* object, std::size_t oldSize, std::size_t size) noexcept {
    if (object == nullptr) {
        return area.malloc(size);
    }
    return area.resize(object, size) ? object : moved(area, object, oldSize, size);
}

} // namespace

int heapwright_xalloc_init(size_t size) {
    const platform::ErrnoKeeper keeper;
    if (programs.memory() != nullptr || size < XallocArea::least) {
        return 0;
    }
    void* const memory = std::malloc(size);
    if (memory == nullptr) {
        return 0;
    }
    programs.adopt(memory, size);
    return 1;
}

void* heapwright_xalloc(size_t size) {
    return programs.malloc(size);
}

void heapwright_xfree(void* object) {
    if (object != nullptr) {
        programs.free(object);
    }
}

void* heapwright_xrealloc(void* object, size_t old_size, size_t size) {
    return resized(programs, object, old_size, size);
}

void heapwright_xfree_all() {
    if (programs.memory() != nullptr) {
        programs.reset();
    }
}

void heapwright_xalloc_end() {
    std::free(programs.memory());
    programs = XallocArea();
}

heapwright_xarea* heapwright_xarea_create(size_t size) {
    const platform::ErrnoKeeper keeper;
    std::size_t whole = 0;
    if (size < XallocArea::least || __builtin_add_overflow(size, headBytes, &whole)) {
        return nullptr;
    }
    void* const memory = std::malloc(whole);
    if (memory == nullptr) {
        return nullptr;
    }
    auto* const area = ::new (memory) heapwright_xarea;
    area->area.adopt(forward(memory, headBytes), size);
    return area;
}

void heapwright_xarea_destroy(heapwright_xarea* area) {
    std::free(area);
}

void* heapwright_xarea_alloc(heapwright_xarea* area, size_t size) {
    return area->area.malloc(size);
}

void heapwright_xarea_free(heapwright_xarea* area, void* object) {
    if (object != nullptr) {
        area->area.free(object);
    }
}

void* heapwright_xarea_realloc(heapwright_xarea* area, void* object, size_t old_size, size_t size) {
    return resized(area->area, object, old_size, size);
}

void heapwright_xarea_free_all(heapwright_xarea* area) {
    area->area.reset();
}
