// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reaps for C, over the C++ composition.
//
// The inline function in the header allocates by moving a pointer. Every function that allocates or
// frees single objects first copies that pointer to the heap and afterwards copies it back. A
// shared reap shows no pointer. These functions and the queries take its lock; `clear`, `destroy`
// and `parent` do not. The lock of a shared parent is taken to join and to leave it.
#include <heapwright/c/reap.h>

#include <capi/chunk_source.hpp>
#include <capi/nested_handle.hpp>
#include <heapwright/allocators/nested_reap.hpp>
#include <heapwright/core/address.hpp>
#include <heapwright/structure/fit/block.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <bit>
#include <cstdint>
#include <cstring>

namespace {

using namespace heapwright;

using Nested = allocators::NestedReap<capi::ChunkSource>;

// The assumptions of the inline function.
static_assert(Block::sizeFor(0) == 32 && Block::sizeFor(24) == 32 && Block::sizeFor(25) == 48);
static_assert(std::bit_cast<std::uint64_t>(Tag(48, State::live)) == (48U << 16U | 0xB7E5U));

/// The part that C code reads comes first.
struct Handle : heapwright_reap {
    bool shared = false;
    FutexLock lock;
};

using Handles = capi::NestedHandle<Handle, Nested>;

Handle& handleOf(const heapwright_reap* reap) noexcept {
    return *static_cast<Handle*>(const_cast<heapwright_reap*>(reap));
}

Nested& heapOf(const heapwright_reap* reap) noexcept {
    return Handles::heapOf(&handleOf(reap));
}

/// Holds a shared reap's lock; nothing for others.
class Hold {
public:
    explicit Hold(const heapwright_reap* reap) noexcept
        : handle_(reap != nullptr && handleOf(reap).shared ? &handleOf(reap) : nullptr) {
        if (handle_ != nullptr) {
            handle_->lock.lock();
        }
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
        if (handle_ != nullptr) {
            handle_->lock.unlock();
        }
    }

private:
    Handle* handle_;
};

/// A scope in which the heap, and not the inline function, has the pointer.
class Inside {
public:
    explicit Inside(heapwright_reap* reap) noexcept : handle_(handleOf(reap)) {
        if (handle_.shared) {
            handle_.lock.lock();
        } else {
            heap().cursor().next = handle_.next_;
        }
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() {
        if (handle_.shared) {
            handle_.lock.unlock();
        } else {
            handle_.next_ = heap().cursor().next;
            handle_.end_ = heap().cursor().end;
        }
    }

    [[nodiscard]] Nested& heap() noexcept { return heapOf(&handle_); }

private:
    Handle& handle_;
};

heapwright_reap* create(heapwright_reap* parent, bool shared) noexcept {
    const Hold hold(parent);
    Handle* const handle = Handles::make(static_cast<Handle*>(parent));
    if (handle != nullptr) {
        handle->shared = shared;
    }
    return handle;
}

/// Moves an object and copies the bytes that both sizes have.
void* moved(Nested& heap, void* object, std::size_t size) noexcept {
    void* const place = heap.malloc(size);
    if (place != nullptr) {
        const std::size_t have = heap.getSize(object);
        std::memcpy(place, object, have < size ? have : size);
        heap.free(object);
    }
    return place;
}

} // namespace

heapwright_reap* heapwright_reap_create(heapwright_reap* parent) {
    return create(parent, false);
}

heapwright_reap* heapwright_reap_create_shared(heapwright_reap* parent) {
    return create(parent, true);
}

void heapwright_reap_destroy(heapwright_reap* reap) {
    if (reap == nullptr) {
        return;
    }
    {
        const Hold hold(heapwright_reap_parent(reap));
        heapOf(reap).leave();
    }
    Handles::end(&handleOf(reap));
}

void heapwright_reap_clear(heapwright_reap* reap) {
    heapOf(reap).clear();
    reap->next_ = reap->end_ = 0;
}

heapwright_reap* heapwright_reap_parent(const heapwright_reap* reap) {
    return Handles::headOf(heapOf(reap).parent());
}

void* heapwright_reap_refill(heapwright_reap* reap, size_t size) {
    return Inside(reap).heap().malloc(size);
}

void heapwright_reap_free(heapwright_reap* reap, void* object) {
    if (object != nullptr) {
        Inside(reap).heap().free(object);
    }
}

void* heapwright_reap_realloc(heapwright_reap* reap, void* object, size_t size) {
    Inside inside(reap);
    Nested& heap = inside.heap();
    if (object == nullptr) {
        return heap.malloc(size);
    }
    return heap.resize(object, size) ? object : moved(heap, object, size);
}

void* heapwright_reap_calloc(heapwright_reap* reap, size_t count, size_t size) {
    std::size_t whole = 0;
    if (__builtin_mul_overflow(count, size, &whole)) {
        return nullptr;
    }
    void* const object = heapwright_reap_malloc(reap, whole);
    return object == nullptr ? nullptr : std::memset(object, 0, whole);
}

void* heapwright_reap_aligned_alloc(heapwright_reap* reap, size_t alignment, size_t size) {
    return std::has_single_bit(alignment) ? Inside(reap).heap().memalign(alignment, size) : nullptr;
}

void* heapwright_reap_copy(heapwright_reap* reap, const void* bytes, size_t size) {
    void* const object = heapwright_reap_malloc(reap, size);
    return object == nullptr || size == 0 ? object : std::memcpy(object, bytes, size);
}

char* heapwright_reap_strdup(heapwright_reap* reap, const char* string) {
    return static_cast<char*>(heapwright_reap_copy(reap, string, std::strlen(string) + 1));
}

size_t heapwright_reap_size(const heapwright_reap* reap, const void* object) {
    const Hold hold(reap); // freeing a neighbour changes the flags beside the size
    return heapOf(reap).getSize(const_cast<void*>(object));
}

int heapwright_reap_owns(const heapwright_reap* reap, const void* address) {
    const Hold hold(reap);
    return heapOf(reap).owns(address) ? 1 : 0;
}

size_t heapwright_reap_memory_used(const heapwright_reap* reap) {
    const Hold hold(reap);
    return capi::memoryOf(heapOf(reap));
}
