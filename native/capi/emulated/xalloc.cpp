// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of heapwright/c/xalloc.h, with each object allocated by malloc. The size of an area
// is only used when it is created. Instead of a full area, malloc reports a lack of memory.
#include <heapwright/c/xalloc.h>

#include "arena.hpp"

#include <heapwright/structure/area/xalloc_area.hpp>

#include <cstdint>
#include <new>

namespace {

using namespace heapwright;

using Area = allocators::EmulatedRegion<capi::emulated::Objects>;

constinit Immortal<Area> programs; // the program's area
constinit bool taken = false;

void release(Area& area, void* object) noexcept {
    if (object != nullptr) {
        area.free(object);
    }
}

void* resized(Area& area, void* object, std::size_t size) noexcept {
    return object == nullptr ? area.malloc(size) : area.relocate(object, size);
}

} // namespace

struct heapwright_xarea {
    Area area;
};

int heapwright_xalloc_init(size_t size) {
    if (taken || size < XallocArea::least || size > PTRDIFF_MAX) {
        return 0;
    }
    taken = true;
    return 1;
}

void* heapwright_xalloc(size_t size) {
    return taken ? programs.object.malloc(size) : nullptr;
}

void heapwright_xfree(void* object) {
    release(programs.object, object);
}

void* heapwright_xrealloc(void* object, size_t /*old_size*/, size_t size) {
    return taken ? resized(programs.object, object, size) : nullptr;
}

void heapwright_xfree_all() {
    programs.object.clear();
}

void heapwright_xalloc_end() {
    programs.object.clear();
    taken = false;
}

heapwright_xarea* heapwright_xarea_create(size_t size) {
    const platform::ErrnoKeeper keeper;
    if (size < XallocArea::least || size > PTRDIFF_MAX) {
        return nullptr;
    }
    void* const memory = capi::emulated::Records().malloc(sizeof(heapwright_xarea));
    return memory == nullptr ? nullptr : ::new (memory) heapwright_xarea;
}

void heapwright_xarea_destroy(heapwright_xarea* area) {
    if (area != nullptr) {
        area->~heapwright_xarea();
        capi::emulated::Records().free(area);
    }
}

void* heapwright_xarea_alloc(heapwright_xarea* area, size_t size) {
    return area->area.malloc(size);
}

void heapwright_xarea_free(heapwright_xarea* area, void* object) {
    release(area->area, object);
}

void* heapwright_xarea_realloc(heapwright_xarea* area, void* object, size_t /*old_size*/,
                               size_t size) {
    return resized(area->area, object, size);
}

void heapwright_xarea_free_all(heapwright_xarea* area) {
    area->area.clear();
}
