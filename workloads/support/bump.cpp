// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See bump.hpp. Masking an object's address gives its chunk. While a thread carves a chunk, the
// chunk counts one object more, so that no other thread takes it for empty.
#include "bump.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>

namespace heapwright::workloads {

namespace {

constexpr std::size_t chunkSize = 256 * 1024;
constexpr std::size_t headerSize = 64;

/// The header of each chunk, and of each large object.
struct Chunk {
    std::atomic<std::size_t> live;
    std::size_t length; ///< the whole length, including the header
    bool alone;         ///< a mapping for one large object
    Chunk* next;        ///< in the list of empty chunks
};
static_assert(sizeof(Chunk) <= headerSize);

/// The empty chunks. The lock is short, because a chunk is taken or returned once in thousands of
/// objects.
std::atomic_flag emptyLock = ATOMIC_FLAG_INIT;
Chunk* empty = nullptr;

thread_local char* here = nullptr;
thread_local char* end = nullptr;

Chunk* chunkOf(const void* object) {
    return reinterpret_cast<Chunk*>(reinterpret_cast<std::uintptr_t>(object) & ~(chunkSize - 1));
}

void lock() {
    while (emptyLock.test_and_set(std::memory_order_acquire)) {
    }
}

void unlock() {
    emptyLock.clear(std::memory_order_release);
}

/// Pages at a multiple of `alignment`; the rest is unmapped. Null on failure.
char* alignedPages(std::size_t length, std::size_t alignment) {
    void* const pages = mmap(nullptr, length + alignment, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        return nullptr;
    }
    char* const first = static_cast<char*>(pages);
    const std::size_t lead =
        (alignment - reinterpret_cast<std::uintptr_t>(first) % alignment) % alignment;
    if (lead != 0) {
        munmap(first, lead);
    }
    munmap(first + lead + length, alignment - lead);
    return first + lead;
}

Chunk* newChunk() {
    lock();
    Chunk* chunk = empty;
    if (chunk != nullptr) {
        empty = chunk->next;
    }
    unlock();
    if (chunk == nullptr) {
        chunk = reinterpret_cast<Chunk*>(alignedPages(chunkSize, chunkSize));
    }
    if (chunk != nullptr) {
        chunk->length = chunkSize;
        chunk->alone = false;
        chunk->live.store(1, std::memory_order_relaxed);
    }
    return chunk;
}

template <bool oneThread>
void count(Chunk* chunk) {
    if constexpr (oneThread) {
        chunk->live.store(chunk->live.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
    } else {
        chunk->live.fetch_add(1, std::memory_order_relaxed);
    }
}

/// Returns true if the object was the last one.
template <bool oneThread>
bool discount(Chunk* chunk) {
    if constexpr (oneThread) {
        const std::size_t left = chunk->live.load(std::memory_order_relaxed) - 1;
        chunk->live.store(left, std::memory_order_relaxed);
        return left == 0;
    } else {
        return chunk->live.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }
}

void retire(Chunk* chunk) {
    if (chunk->alone) {
        munmap(chunk, chunk->length);
        return;
    }
    lock();
    chunk->next = empty;
    empty = chunk;
    unlock();
}

void* large(std::size_t alignment, std::size_t size) {
    const std::size_t offset = alignment > headerSize ? alignment : headerSize;
    const std::size_t length = (size + offset + 4095) & ~std::size_t{4095};
    // The header is found by masking, so the object must start within a chunk's length.
    if (length < size || offset >= chunkSize) {
        return nullptr;
    }
    char* const pages = alignedPages(length, chunkSize);
    if (pages == nullptr) {
        return nullptr;
    }
    Chunk* const chunk = reinterpret_cast<Chunk*>(pages);
    chunk->live.store(1, std::memory_order_relaxed);
    chunk->length = length;
    chunk->alone = true;
    return pages + offset;
}

template <bool oneThread>
void release(void* object) {
    if (object != nullptr) {
        Chunk* const chunk = chunkOf(object);
        if (discount<oneThread>(chunk)) {
            retire(chunk);
        }
    }
}

/// Continues in another chunk.
template <bool oneThread>
bool refill() {
    if (here != nullptr) {
        Chunk* const chunk = chunkOf(end - 1);
        here = end = nullptr;
        if (discount<oneThread>(chunk)) {
            retire(chunk);
        }
    }
    Chunk* const chunk = newChunk();
    if (chunk == nullptr) {
        return false;
    }
    here = reinterpret_cast<char*>(chunk) + headerSize;
    end = reinterpret_cast<char*>(chunk) + chunkSize;
    return true;
}

template <bool oneThread>
void* bump(std::size_t size) {
    const std::size_t step = size == 0 ? 16 : (size + 15) & ~std::size_t{15};
    if (static_cast<std::size_t>(end - here) < step || step < size) [[unlikely]] {
        if (size > chunkSize / 4) {
            return large(16, size);
        }
        if (!refill<oneThread>()) {
            return nullptr;
        }
    }
    char* const object = here;
    here += step;
    count<oneThread>(chunkOf(object));
    return object;
}

template <bool oneThread>
void* bumpAligned(std::size_t alignment, std::size_t size) {
    if (alignment <= 16) {
        return bump<oneThread>(size);
    }
    if (size > chunkSize / 8 || alignment > chunkSize / 8) {
        return large(alignment, size);
    }
    void* const object = bump<oneThread>(size + alignment);
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    return object == nullptr
               ? nullptr
               : reinterpret_cast<void*>((address + alignment - 1) & ~(alignment - 1));
}

template <bool oneThread>
void* bumpZeroed(std::size_t number, std::size_t size) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(number, size, &bytes)) {
        return nullptr;
    }
    void* const object = bump<oneThread>(bytes);
    return object == nullptr ? nullptr : std::memset(object, 0, bytes);
}

/// The old size is unknown, so it copies as many bytes as the object may have.
template <bool oneThread>
void* bumpAgain(void* object, std::size_t size) {
    if (object == nullptr) {
        return bump<oneThread>(size);
    }
    void* const moved = bump<oneThread>(size);
    if (moved != nullptr) {
        Chunk* const chunk = chunkOf(object);
        const char* const stop = reinterpret_cast<char*>(chunk) + chunk->length;
        const auto room = static_cast<std::size_t>(stop - static_cast<char*>(object));
        std::memmove(moved, object, room < size ? room : size);
        release<oneThread>(object);
    }
    return moved;
}

template <bool oneThread>
constexpr Calls callsFor() {
    return {bump<oneThread>,        release<oneThread>, bumpZeroed<oneThread>, bumpAgain<oneThread>,
            bumpAligned<oneThread>, bump<oneThread>,    release<oneThread>};
}

} // namespace

Calls bumpCalls(bool oneThread) {
    return oneThread ? callsFor<true>() : callsFor<false>();
}

void holdBump() {
    lock();
}

void releaseBump() {
    unlock();
}

} // namespace heapwright::workloads
