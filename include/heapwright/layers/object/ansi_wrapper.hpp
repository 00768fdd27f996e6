// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Applies the rules of C's malloc over any sized heap: zero sizes, overflow, null pointers,
// `calloc` and `realloc`.
//
// It does not set errno or return EINVAL, because the entry points differ in that. It has the whole
// set of verbs for any heap below, so it is the top of a composition.
// Cost: two compares for each request. None if the heap below has a fast path that accepts any
// size: then the rules are applied only to requests that it refused.
//
// Example: ANSIWrapper<AlignHeap<SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/cache/fast_path.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heapwright {

template <SizedHeap SuperHeap>
    requires AlignedHeap<SuperHeap> && MaxAlignedHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class ANSIWrapper : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr bool splitPath = SplitPathHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "applies the C rules: zero sizes, overflow, realloc";
    using Below = Heaps<SuperHeap>;

    /// A request of zero bytes returns an object of its own. One beyond PTRDIFF_MAX returns null.
    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        if constexpr (splitPath) {
            void* const object = SuperHeap::tryMallocFast(size);
            return object != nullptr ? object : afterAll(size, *this);
        } else if constexpr (AtOnceHeap<SuperHeap>) {
            void* const object = SuperHeap::mallocAtOnce(least(size));
            return object != nullptr ? object : afterAll(size, *this);
        } else {
            if (size > largest) [[unlikely]] {
                return nullptr;
            }
            return SuperHeap::malloc(least(size));
        }
    }

    [[gnu::always_inline]] void free(void* object) noexcept {
        if constexpr (splitPath) {
            if (!SuperHeap::tryFreeFast(object)) {
                afterAll(object, *this);
            }
        } else if (object != nullptr) [[likely]] {
            SuperHeap::free(object);
        }
    }

    [[nodiscard, gnu::always_inline]] void* tryMallocFast(std::size_t size) noexcept
        requires SplitPathHeap<SuperHeap>
    {
        return SuperHeap::tryMallocFast(size);
    }
    [[nodiscard, gnu::always_inline]] bool tryFreeFast(void* object) noexcept
        requires SplitPathHeap<SuperHeap>
    {
        return SuperHeap::tryFreeFast(object);
    }
    [[nodiscard, gnu::always_inline]] void* mallocAtOnce(std::size_t size) noexcept
        requires AtOnceHeap<SuperHeap>
    {
        return SuperHeap::mallocAtOnce(least(size));
    }
    [[nodiscard]] void* mallocSlow(std::size_t size) noexcept
        requires SplitPathHeap<SuperHeap> || AtOnceHeap<SuperHeap>
    {
        return afterAll(size, *this);
    }
    void freeSlow(void* object) noexcept
        requires SplitPathHeap<SuperHeap>
    {
        afterAll(object, *this);
    }

    [[nodiscard]] void* calloc(std::size_t count, std::size_t each) noexcept {
        std::size_t size = 0;
        if (__builtin_mul_overflow(count, each, &size) || size > largest) [[unlikely]] {
            return nullptr;
        }
        if constexpr (splitPath) {
            if (void* const object = SuperHeap::tryMallocFast(size)) [[likely]] {
                return std::memset(object, 0, size);
            }
        }
        size = least(size);
        if constexpr (ZeroingHeap<SuperHeap>) {
            return SuperHeap::zalloc(size);
        } else {
            void* const object = SuperHeap::malloc(size);
            return object == nullptr ? nullptr : std::memset(object, 0, size);
        }
    }

    /// In place if that works, else by moving pages, else by copying. A new size of zero frees the
    /// object and returns null, as in the GNU C library.
    /// Post: on null with a size above zero, the old object is unchanged.
    [[nodiscard]] void* realloc(void* object, std::size_t size) noexcept {
        if (object == nullptr) {
            return malloc(size);
        }
        if (size == 0) {
            SuperHeap::free(object);
            return nullptr;
        }
        if (size > largest) {
            return nullptr;
        }
        if constexpr (ResizableHeap<SuperHeap>) {
            if (SuperHeap::resize(object, size)) {
                return object;
            }
        }
        if constexpr (RelocatingHeap<SuperHeap>) {
            void* const moved = SuperHeap::relocate(object, size);
            if (moved != nullptr) {
                return moved;
            }
        }
        return copied(object, size);
    }

    /// Null unless `align` is a power of two.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        if (!std::has_single_bit(align) || size > largest || align > largest) [[unlikely]] {
            return nullptr;
        }
        if (align <= alignment) {
            return malloc(size);
        }
        return SuperHeap::memalign(align, least(size));
    }

    /// The usable bytes of an object; 0 for null.
    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return object == nullptr ? 0 : SuperHeap::getSize(object);
    }

    /// False if no heap below can return memory.
    bool trim(std::size_t pad) noexcept {
        if constexpr (TrimmableHeap<SuperHeap>) {
            return SuperHeap::trim(pad);
        } else {
            return false;
        }
    }

    void measure(MemoryUsage& usage) noexcept {
        if constexpr (MeasurableHeap<SuperHeap>) {
            SuperHeap::measure(usage);
        }
    }

    void beforeFork() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::beforeFork();
        }
    }

    void afterForkInParent() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInParent();
        }
    }

    void afterForkInChild() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInChild();
        }
    }

    /// For the heap below that is notified of signal handlers (`HandlerSafeHeap`).
    [[nodiscard]] static bool inRequest() noexcept
        requires HandlerNotifiedHeap<SuperHeap>
    {
        return SuperHeap::inRequest();
    }
    [[nodiscard]] static auto beforeHandler(auto part, Address interrupted) noexcept
        requires HandlerNotifiedHeap<SuperHeap>
    {
        return SuperHeap::beforeHandler(part, interrupted);
    }
    static void afterHandler(const auto& before) noexcept
        requires HandlerNotifiedHeap<SuperHeap>
    {
        SuperHeap::afterHandler(before);
    }

    using Forwards::checkRequest;
    using Forwards::describe;
    using Forwards::inspect;
    using Forwards::owns;
    using Forwards::purgeExpired;
    using Forwards::resolveSites;
    using Forwards::tryMallocFrom; ///< The caller applies the rules to its null.
    using Forwards::walk;

private:
    static constexpr std::size_t largest = PTRDIFF_MAX;

    static constexpr std::size_t least(std::size_t size) noexcept {
        return size + (size == 0 && !EmptyRequestHeap<SuperHeap> ? 1U : 0U);
    }

    /// Applies the rules to a request that the fast path refused. Out of line and static, so that
    /// the size stays in its register.
    [[nodiscard, gnu::noinline]] static void* afterAll(std::size_t size,
                                                       ANSIWrapper& heap) noexcept {
        if (size > largest) [[unlikely]] {
            return nullptr;
        }
        if constexpr (splitPath) {
            return static_cast<SuperHeap&>(heap).mallocSlow(least(size));
        } else {
            return static_cast<SuperHeap&>(heap).malloc(least(size));
        }
    }
    [[gnu::noinline]] static void afterAll(void* object, ANSIWrapper& heap) noexcept {
        if (object != nullptr) {
            static_cast<SuperHeap&>(heap).freeSlow(object);
        }
    }

    void* copied(void* object, std::size_t size) noexcept {
        const std::size_t have = SuperHeap::getSize(object);
        void* const fresh = SuperHeap::malloc(size);
        if (fresh == nullptr) {
            return size <= have ? object : nullptr;
        }
        std::memcpy(fresh, object, have < size ? have : size);
        SuperHeap::free(object);
        return fresh;
    }
};

} // namespace heapwright
