// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The sources of container nodes besides the arenas: operator new, three kinds of pools with a list
// for each size, and the standard library's arena. The pools are this file's, that of libstdc++'s
// <ext/pool_allocator.h>, and the standard library's.
#pragma once

#include "../arenas.hpp"

#include <cstddef>
#include <ext/pool_allocator.h>
#include <memory_resource>

namespace heapwright::workloads::containers {

/// operator new and delete.
class NewArena {
public:
    static constexpr bool bulk = false;

    void* malloc(std::size_t size) {
        void* const object = calls.create(size);
        if (object == nullptr) [[unlikely]] {
            noMemory("operator new", size);
        }
        return object;
    }
    void free(void* object, std::size_t /*size*/) { calls.destroy(object); }
    void clear() {}
};

/// A list for each size up to 512 bytes, carved from chunks. Larger requests, such as tables, go to
/// the allocator.
class PoolArena {
    static constexpr std::size_t step = 16;
    static constexpr std::size_t most = 512;

public:
    static constexpr bool bulk = false;

    PoolArena() = default;
    PoolArena(const PoolArena&) = delete;
    PoolArena& operator=(const PoolArena&) = delete;

    void* malloc(std::size_t size) {
        if (size > most) {
            return allocate(size);
        }
        Free*& list = lists_[(size + step - 1) / step];
        if (Free* const object = list) {
            list = object->next;
            return object;
        }
        return nodes_.malloc(roundUp(size, step));
    }

    void free(void* object, std::size_t size) {
        if (size > most) {
            return release(object);
        }
        Free*& list = lists_[(size + step - 1) / step];
        list = ::new (object) Free{list};
    }

    void clear() {
        for (Free*& list : lists_) {
            list = nullptr;
        }
        nodes_.clear();
    }

private:
    struct Free {
        Free* next;
    };

    RegionArena nodes_;
    Free* lists_[most / step + 1] = {};
};

/// libstdc++'s node allocator: one pool for the process, behind a lock, which never returns memory.
class GnuPoolArena {
public:
    static constexpr bool bulk = false;

    void* malloc(std::size_t size) { return __gnu_cxx::__pool_alloc<char>().allocate(size); }
    void free(void* object, std::size_t size) {
        __gnu_cxx::__pool_alloc<char>().deallocate(static_cast<char*>(object), size);
    }
    void clear() {}
};

/// The allocator under test, as a memory resource.
class CallsResource : public std::pmr::memory_resource {
private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        return alignment <= minAlignment ? workloads::allocate(bytes)
                                         : allocateAligned(alignment, bytes);
    }
    void do_deallocate(void* object, std::size_t /*bytes*/, std::size_t /*alignment*/) override {
        release(object);
    }
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }
};

/// One of the standard library's resources. Requests need no more alignment than nodes need. The
/// pools of libstdc++ 12 may return less if a size is no multiple of the alignment.
template <class Resource, bool Bulk>
class ResourceArena {
    static constexpr std::size_t alignment = alignof(std::uint64_t);

public:
    static constexpr bool bulk = Bulk;

    void* malloc(std::size_t size) { return resource_.allocate(size, alignment); }
    void free(void* object, std::size_t size) { resource_.deallocate(object, size, alignment); }
    void clear() { resource_.release(); }

private:
    CallsResource below_;
    Resource resource_{&below_};
};

using PmrPoolArena = ResourceArena<std::pmr::unsynchronized_pool_resource, false>;
using MonotonicArena = ResourceArena<std::pmr::monotonic_buffer_resource, true>;

/// A standard allocator that counts its requests.
template <class T, class Arena>
class NodeAllocator {
public:
    using value_type = T;

    NodeAllocator(Arena& arena, std::uint64_t& count) : arena_(&arena), count_(&count) {}
    template <class U>
    NodeAllocator(const NodeAllocator<U, Arena>& other) // NOLINT(google-explicit-constructor)
        : arena_(other.arena_), count_(other.count_) {}

    T* allocate(std::size_t number) {
        static_assert(alignof(T) <= alignof(std::uint64_t));
        ++*count_;
        return static_cast<T*>(arena_->malloc(number * sizeof(T)));
    }

    void deallocate(T* objects, std::size_t number) {
        if constexpr (requires { arena_->free(objects, number); }) {
            arena_->free(objects, number * sizeof(T));
        } else {
            arena_->free(objects);
        }
    }

    template <class U>
    bool operator==(const NodeAllocator<U, Arena>& other) const {
        return arena_ == other.arena_;
    }

private:
    template <class U, class A>
    friend class NodeAllocator;

    Arena* arena_;
    std::uint64_t* count_;
};

} // namespace heapwright::workloads::containers
