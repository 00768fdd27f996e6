// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The common part of layers that keep freed objects, by size class, in front of a heap that threads
// share. It has the verbs about live objects, and the verbs that call the heap below.
//
// A waiting object has a key in its second word, which a program can only write by accident.
// Freeing, resizing or measuring an object that waits in any thread's cache therefore ends the
// program. The heap below checks whether a pointer is an object (`CheckingHeap`), so let it check
// under its lock, and not a layer above. When the heap below has no memory, the caller's cache is
// returned first.
//
// The layer, `Cache`, inherits publicly from this class and defines four functions.
// `tryMallocFast(size)` and `tryFreeFast(object)` use the cache, or return null or false.
// `freeBelow(object, layer)` frees what the cache does not take. `flushMine()` returns the caller's
// cached objects, and reports whether there were any.
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/sizeclass/at_least.hpp>
#include <heapwright/sizeclass/size_classes.hpp>
#include <heapwright/structure/cache/cached_object.hpp>
#include <heapwright/structure/cache/classifying_heap.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace heapwright {

template <class Cache, SizeClasses Classes, SizedHeap SuperHeap>
class CachingHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    constexpr CachingHeap() noexcept = default;
    CachingHeap(const CachingHeap&) = delete;
    CachingHeap& operator=(const CachingHeap&) = delete;
    ~CachingHeap() = default;

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        if (void* const object = cache().tryMallocFast(size)) {
            return std::memset(object, 0, size);
        }
        return orAfterFlush([this, size] { return SuperHeap::zalloc(rounded(size)); });
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return orAfterFlush(
            [this, align, size] { return SuperHeap::memalign(align, rounded(size)); });
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        secret_.ensure();
        return SuperHeap::memalignHeld(align, rounded(size));
    }

    [[gnu::always_inline]] void free(void* object) noexcept {
        if (!cache().tryFreeFast(object)) [[unlikely]] {
            Cache::freeBelow(object, cache());
        }
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        classOfLive(object, "malloc_usable_size");
        return SuperHeap::getSize(object);
    }

    /// For a caller that may be inside the heap: a signal handler.
    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept {
        return sizeOutside(below(), object);
    }

    /// Aborts unless `object` is live, as far as the heap below and the caches can detect.
    void check(void* object, std::string_view routine) noexcept
        requires CheckingHeap<SuperHeap>
    {
        classOfLive(object, routine);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        classOfLive(object, "realloc");
        return SuperHeap::resize(object, rounded(size));
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        classOfLive(object, "realloc");
        return SuperHeap::relocate(object, rounded(size));
    }

    /// Returns the caller's cached objects and flushes the heap below.
    bool flush() noexcept {
        bool any = cache().flushMine();
        if constexpr (FlushableHeap<SuperHeap>) {
            any = SuperHeap::flush() || any;
        }
        return any;
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        cache().flushMine();
        return SuperHeap::trim(pad);
    }

    using Forwards::owns;

protected:
    using Waiting = CachedClasses<Classes>;
    using Raised = RaisedTo<sizeof(CachedObject), Classes>;

    static constexpr std::size_t rounded(std::size_t size) noexcept {
        const std::size_t index = Raised::classFor(size);
        return index < Classes::count ? Classes::sizeOf(index) : size;
    }

    [[nodiscard]] SuperHeap& below() noexcept { return *this; }
    [[nodiscard]] const SuperHeap& below() const noexcept { return *this; }

    /// The class whose list the object could wait in. Aborts if it is not live, or already waits.
    [[gnu::always_inline]] std::size_t classOfLive(void* object,
                                                   std::string_view routine) noexcept {
        const std::size_t index = classOfLiveIn<Classes>(below(), object, routine);
        if (Waiting::has(index)) [[likely]] {
            secret_.refuseWaiting(object, routine);
        }
        return index;
    }

    /// An object that the heap below holds.
    [[nodiscard]] void* heldBelow(std::size_t size) noexcept {
        if constexpr (HoldingHeap<SuperHeap>) {
            secret_.ensure();
            return SuperHeap::mallocHeld(rounded(size));
        } else {
            return nullptr;
        }
    }

    /// The result of `get` from below. If that is null, the caller's cache is flushed and `get`
    /// called again.
    template <class Get>
    void* orAfterFlush(Get get) noexcept {
        secret_.ensure();
        void* const object = get();
        return object == nullptr && cache().flushMine() ? get() : object;
    }

    CachedObjectSecret secret_;

private:
    [[nodiscard]] Cache& cache() noexcept { return static_cast<Cache&>(*this); }
};

} // namespace heapwright
