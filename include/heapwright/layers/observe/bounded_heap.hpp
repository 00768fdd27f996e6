// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Limits the live bytes to `Bytes`. A request beyond returns null, as if the machine had no more
// memory. Use it to test a program without memory, or to keep one part of a program from using the
// memory of the others.
//
// The usable size of each live object counts (`getSize`), not the requested size. Memory that the
// heaps below hold besides does not count.
// Invariant: `live_` is the sum over the live objects, and at most `Bytes`. A request that would
// exceed it changes nothing. A move by pages must have room for one more page, because page sources
// round up. A check below, if there is one, reports a wrong pointer with the name of the verb.
// Cost: the size of the object, an addition and a compare.
//
// Example: BoundedHeap<256 * MiB, SizeHeap<MallocHeap>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t Bytes, SizedHeap SuperHeap>
    requires AnyOrderHeap<SuperHeap>
class BoundedHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr std::string_view caption = "limits the bytes that are live at a time";
    using Below = Heaps<SuperHeap>;

    constexpr BoundedHeap() noexcept = default;
    ~BoundedHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return fits(size) ? counted(SuperHeap::malloc(size)) : nullptr;
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return fits(size) ? counted(SuperHeap::zalloc(size)) : nullptr;
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return fits(size) ? counted(SuperHeap::memalign(align, size)) : nullptr;
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return fits(size) ? counted(SuperHeap::mallocHeld(size)) : nullptr;
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return fits(size) ? counted(SuperHeap::memalignHeld(align, size)) : nullptr;
    }

    void free(void* object) noexcept {
        const std::size_t size = sizeOf(object);
        SuperHeap::free(object);
        live_ -= size;
    }

    void free(void* object, std::size_t size) noexcept
        requires SizedFreeHeap<SuperHeap>
    {
        const std::size_t have = sizeOf(object);
        SuperHeap::free(object, size);
        live_ -= have;
    }

    /// An object that has grown beyond the limit shrinks again to its old size.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        const std::size_t had = sizeOf(object);
        if (!growthFits(had, size) || !SuperHeap::resize(object, size)) {
            return false;
        }
        recount(object, had);
        if (live_ <= Bytes) [[likely]] {
            return true;
        }
        const std::size_t grown = sizeOf(object);
        if (SuperHeap::resize(object, had)) {
            recount(object, grown);
        }
        return false;
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        const std::size_t had = sizeOf(object);
        std::size_t most = 0;
        if (__builtin_add_overflow(size, platform::pageSize(), &most) || !growthFits(had, most)) {
            return nullptr;
        }
        void* const moved = SuperHeap::relocate(object, size);
        if (moved != nullptr) {
            recount(moved, had);
        }
        return moved;
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        SuperHeap::clear();
        live_ = 0;
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::flush;
    using Forwards::getSize;
    using Forwards::measure;
    using Forwards::owns;
    using Forwards::trim;

private:
    /// Tests the whole size, because a heap that moves pages may round up by more than one.
    [[nodiscard]] bool fits(std::size_t size) const noexcept {
        return live_ <= Bytes && size <= Bytes - live_;
    }

    [[nodiscard]] bool growthFits(std::size_t had, std::size_t size) const noexcept {
        return size <= had || fits(size - had);
    }

    /// If there is a check below, it reports what is wrong with a pointer.
    std::size_t sizeOf(void* object) noexcept {
        if constexpr (TaggedHeap<SuperHeap> && !UncheckedHeap<SuperHeap>) {
            if (addressOf(object) % minAlignment != 0 || !Tag::of(object).is(State::live)) {
                return 0;
            }
        }
        return SuperHeap::getSize(object);
    }

    void* counted(void* object) noexcept {
        if (object == nullptr) [[unlikely]] {
            return nullptr;
        }
        const std::size_t size = sizeOf(object);
        if (!fits(size)) [[unlikely]] {
            SuperHeap::free(object);
            return nullptr;
        }
        live_ += size;
        return object;
    }

    void recount(void* object, std::size_t had) noexcept { live_ += sizeOf(object) - had; }

    std::size_t live_ = 0; ///< sum of the usable sizes of live objects
};

} // namespace heapwright
