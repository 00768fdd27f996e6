// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Any heap behind a table of functions. So code that drives heaps in tests is compiled once instead
// of once for each of a thousand stacks. A verb that the heap does not have is null in its table.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace heapwright::testing {

/// What can be done with the heaps of one type.
struct HeapVerbs {
    std::size_t bytes = 0; ///< of the heap itself
    std::size_t place = 0; ///< its alignment
    std::size_t alignment = 0;
    std::size_t phase = 0;
    bool uniform = false; ///< may have requests of one size only
    bool stack = false;   ///< takes back the newest object only
    bool unique = false;  ///< one heap for all of the type, which no destructor ends

    void (*construct)(void*) = nullptr;
    void (*destroy)(void*) = nullptr;
    void* (*malloc)(void*, std::size_t) = nullptr;
    void (*free)(void*, void*) = nullptr;
    std::size_t (*getSize)(void*, void*) = nullptr;
    void* (*memalign)(void*, std::size_t, std::size_t) = nullptr;
    void* (*zalloc)(void*, std::size_t) = nullptr;
    bool (*resize)(void*, void*, std::size_t) = nullptr;
    void* (*relocate)(void*, void*, std::size_t) = nullptr;
    void* (*mallocHeld)(void*, std::size_t) = nullptr;
    void* (*memalignHeld)(void*, std::size_t, std::size_t) = nullptr;
    void (*freeSized)(void*, void*, std::size_t) = nullptr;
    bool (*flush)(void*) = nullptr;
    bool (*trim)(void*, std::size_t) = nullptr;
    void (*clear)(void*) = nullptr;
    void (*measure)(void*, MemoryUsage&) = nullptr;
    bool (*owns)(void*, const void*) = nullptr;
    void (*beforeFork)(void*) = nullptr;
    void (*afterForkInParent)(void*) = nullptr;
};

namespace detail {

/// Runs a verb that answers with memory; what is thrown for lack of it is null here.
template <class H, class Verb>
void* orNull(void* heap, Verb verb) {
    if constexpr (noexcept(verb(*static_cast<H*>(heap)))) {
        return verb(*static_cast<H*>(heap));
    } else {
        try {
            return verb(*static_cast<H*>(heap));
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }
}

template <class H>
consteval bool isUnique();
template <class... B>
consteval bool anyUnique(Heaps<B...>) {
    return (isUnique<B>() || ...);
}
template <class H>
consteval bool isUnique() {
    if constexpr (requires { requires H::unique; }) {
        return true;
    } else if constexpr (requires { typename H::Below; }) {
        return anyUnique(typename H::Below{});
    } else {
        return false;
    }
}

// The verbs themselves are probed. A heap that throws is no `Heap`, and has verbs all the same.
template <class H>
constexpr void addMemoryVerbs(HeapVerbs& verbs) {
    verbs.malloc = [](void* heap, std::size_t size) {
        return orNull<H>(heap,
                         [=](H& h) noexcept(noexcept(h.malloc(size))) { return h.malloc(size); });
    };
    if constexpr (requires(H h) { h.zalloc(std::size_t{}); }) {
        verbs.zalloc = [](void* heap, std::size_t size) {
            return orNull<H>(
                heap, [=](H& h) noexcept(noexcept(h.zalloc(size))) { return h.zalloc(size); });
        };
    }
    if constexpr (requires(H h) { h.memalign(std::size_t{}, std::size_t{}); }) {
        verbs.memalign = [](void* heap, std::size_t align, std::size_t size) {
            return orNull<H>(heap, [=](H& h) noexcept(noexcept(h.memalign(align, size))) {
                return h.memalign(align, size);
            });
        };
    }
    if constexpr (requires(H h, void* object) { h.relocate(object, std::size_t{}); }) {
        verbs.relocate = [](void* heap, void* object, std::size_t size) {
            return static_cast<H*>(heap)->relocate(object, size);
        };
    }
    if constexpr (requires(H h) { h.mallocHeld(std::size_t{}); }) {
        verbs.mallocHeld = [](void* heap, std::size_t size) {
            return static_cast<H*>(heap)->mallocHeld(size);
        };
    }
    if constexpr (requires(H h) { h.memalignHeld(std::size_t{}, std::size_t{}); }) {
        verbs.memalignHeld = [](void* heap, std::size_t align, std::size_t size) {
            return static_cast<H*>(heap)->memalignHeld(align, size);
        };
    }
}

template <class H>
constexpr void addObjectVerbs(HeapVerbs& verbs) {
    verbs.free = [](void* heap, void* object) { static_cast<H*>(heap)->free(object); };
    if constexpr (requires(H h, void* object) { h.free(object, std::size_t{}); }) {
        verbs.freeSized = [](void* heap, void* object, std::size_t size) {
            static_cast<H*>(heap)->free(object, size);
        };
    }
    if constexpr (requires(H h, void* object) { h.getSize(object); }) {
        verbs.getSize = [](void* heap, void* object) {
            return static_cast<H*>(heap)->getSize(object);
        };
    }
    if constexpr (requires(H h, void* object) { h.resize(object, std::size_t{}); }) {
        verbs.resize = [](void* heap, void* object, std::size_t size) {
            return static_cast<H*>(heap)->resize(object, size);
        };
    }
    if constexpr (requires(H h, const void* object) { h.owns(object); }) {
        verbs.owns = [](void* heap, const void* object) {
            return static_cast<H*>(heap)->owns(object);
        };
    }
}

template <class H>
constexpr void addWholeHeapVerbs(HeapVerbs& verbs) {
    if constexpr (requires(H h) { h.flush(); }) {
        verbs.flush = [](void* heap) { return static_cast<H*>(heap)->flush(); };
    }
    if constexpr (requires(H h) { h.trim(std::size_t{}); }) {
        verbs.trim = [](void* heap, std::size_t pad) { return static_cast<H*>(heap)->trim(pad); };
    }
    if constexpr (requires(H h) { h.clear(); }) {
        verbs.clear = [](void* heap) { static_cast<H*>(heap)->clear(); };
    }
    if constexpr (requires(H h, MemoryUsage& usage) { h.measure(usage); }) {
        verbs.measure = [](void* heap, MemoryUsage& f) { static_cast<H*>(heap)->measure(f); };
    }
    if constexpr (requires(H h) { h.beforeFork(); }) {
        verbs.beforeFork = [](void* heap) { static_cast<H*>(heap)->beforeFork(); };
        verbs.afterForkInParent = [](void* heap) { static_cast<H*>(heap)->afterForkInParent(); };
    }
}

template <class H>
constexpr HeapVerbs verbsOf() {
    HeapVerbs verbs;
    verbs.bytes = sizeof(H);
    verbs.place = alignof(H);
    verbs.alignment = H::alignment;
    verbs.phase = alignmentOffsetOf<H>;
    verbs.uniform = uniformHeap<H>;
    verbs.stack = stackHeap<H>;
    verbs.unique = isUnique<H>();
    verbs.construct = [](void* place) { ::new (place) H; };
    verbs.destroy = [](void* heap) { static_cast<H*>(heap)->~H(); };
    addMemoryVerbs<H>(verbs);
    addObjectVerbs<H>(verbs);
    addWholeHeapVerbs<H>(verbs);
    return verbs;
}

} // namespace detail

template <class H>
inline constexpr HeapVerbs heapVerbs = detail::verbsOf<H>();

/// A heap and its table.
struct AnyHeap {
    const HeapVerbs* verbs;
    void* heap;

    template <class H>
    static AnyHeap of(H& heap) noexcept {
        return {&heapVerbs<H>, &heap};
    }

    [[nodiscard]] void* malloc(std::size_t size) const { return verbs->malloc(heap, size); }
    void free(void* object) const { verbs->free(heap, object); }
    /// 0 where the heap does not know.
    [[nodiscard]] std::size_t getSize(void* object) const {
        return verbs->getSize == nullptr ? 0 : verbs->getSize(heap, object);
    }
};

/// A heap that is known by its table, from its beginning to its end.
class Life {
public:
    explicit Life(const HeapVerbs& verbs) : verbs_(verbs), memory_(memoryFor(verbs)) {
        verbs_.construct(memory_);
    }
    Life(const Life&) = delete;
    Life& operator=(const Life&) = delete;
    ~Life() {
        verbs_.destroy(memory_);
        std::free(memory_);
    }
    [[nodiscard]] AnyHeap heap() const { return {&verbs_, memory_}; }

private:
    static void* memoryFor(const HeapVerbs& verbs) {
        const std::size_t place = std::max(verbs.place, std::size_t{64});
        return std::aligned_alloc(place, roundUp(verbs.bytes, place));
    }

    const HeapVerbs& verbs_;
    void* memory_;
};

} // namespace heapwright::testing
