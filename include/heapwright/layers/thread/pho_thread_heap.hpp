// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Private heaps with ownership. A thread allocates from its own heap. A freed object returns to the
// heap it came from, no matter which thread frees it.
//
// There are `Count` heaps. Each live thread has one for itself as long as there are enough; further
// threads share. Any thread may free into any heap, so the heaps must be safe to share. A header
// before each object holds the number of the heap and the start of the block. It has 16 bytes, or
// as many as the object's alignment if that is more. `ArenaHeap` works without a header.
// Invariant: the word before a live object has the mark in its upper half.
// Cost: the header; a free waits for the lock of the object's heap.
//
// Blowup: at most the number of heaps. Each heap may hold as much free memory as the program has
// ever had live from it, and no other heap can use that.
// Source: the allocators of Solaris and ptmalloc are of this kind; the layer is from Heap Layers.
//
// Example: PHOThreadHeap<8, LockedHeap<FutexLock, MmapHeap>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/thread/heap_group.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace heapwright {

template <std::size_t Count, ConcurrentHeap SuperHeap>
    requires MaxAlignedHeap<SuperHeap>
class PHOThreadHeap : public HeapGroup<Count, SuperHeap> {
    using HeapGroup<Count, SuperHeap>::heaps_;

    /// The header before each object. The first word is left to the heap below, which may link free
    /// blocks there.
    struct Header {
        std::uint64_t unused;
        std::uint32_t owner : 20;
        std::uint32_t leadLog2 : 12;
        std::uint32_t mark;
    };
    static constexpr std::size_t header = sizeof(Header);
    static constexpr std::uint32_t live = 0x9D35B6C7;
    static constexpr std::uint32_t freed = 0x8C1FA3E9;
    static_assert(header == minAlignment);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool concurrent = true;
    static constexpr std::string_view caption =
        "a heap for each thread; memory returns to the heap it came from";
    using Below = Heaps<SuperHeap>;

    constexpr PHOThreadHeap() noexcept = default;
    ~PHOThreadHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return with(size, header,
                    [](SuperHeap& mine, std::size_t whole) { return mine.malloc(whole); });
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return with(size, header,
                    [](SuperHeap& mine, std::size_t whole) { return mine.mallocHeld(whole); });
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return with(size, header,
                    [](SuperHeap& mine, std::size_t whole) { return mine.zalloc(whole); });
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        const std::size_t lead = align < header ? header : align;
        return with(size, lead, [lead](SuperHeap& mine, std::size_t whole) {
            return mine.memalign(lead, whole);
        });
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        const std::size_t lead = align < header ? header : align;
        return with(size, lead, [lead](SuperHeap& mine, std::size_t whole) {
            return mine.memalignHeld(lead, whole);
        });
    }

    void free(void* object) noexcept {
        Header& mark = checked(object, "free");
        mark.mark = freed;
        heaps_[mark.owner].free(blockOf(object));
    }

    void free(void* object, std::size_t size) noexcept
        requires SizedFreeHeap<SuperHeap>
    {
        Header& mark = checked(object, "free");
        mark.mark = freed;
        heaps_[mark.owner].free(blockOf(object), size + leadOf(object));
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept
        requires SizedHeap<SuperHeap>
    {
        const Header& mark = checked(object, "malloc_usable_size");
        return heaps_[mark.owner].getSize(blockOf(object)) - leadOf(object);
    }

    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept
        requires UnlockedSizeHeap<SuperHeap>
    {
        const Header& mark = checked(object, "malloc_usable_size");
        return heaps_[mark.owner].getSizeUnlocked(blockOf(object)) - leadOf(object);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        const Header& mark = checked(object, "realloc");
        std::size_t whole = 0;
        return !__builtin_add_overflow(size, leadOf(object), &whole) &&
               heaps_[mark.owner].resize(blockOf(object), whole);
    }

    /// The header moves with the object. An object with a larger alignment does not move, because
    /// it would lose the alignment.
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        const Header& mark = checked(object, "realloc");
        std::size_t whole = 0;
        if (leadOf(object) != header || __builtin_add_overflow(size, header, &whole)) {
            return nullptr;
        }
        void* const moved = heaps_[mark.owner].relocate(blockOf(object), whole);
        return moved == nullptr ? nullptr : forward(moved, header);
    }

private:
    static Header& headerOf(void* object) noexcept {
        return *static_cast<Header*>(backward(object, header));
    }
    static std::size_t leadOf(void* object) noexcept {
        return std::size_t{1} << headerOf(object).leadLog2;
    }
    static void* blockOf(void* object) noexcept { return backward(object, leadOf(object)); }

    /// The header of an object, after a check of its mark. A heap below may check more.
    static Header& checked(void* object, std::string_view routine) noexcept {
        if (addressOf(object) % minAlignment != 0 || headerOf(object).mark != live) [[unlikely]] {
            refuse(object, routine);
        }
        return headerOf(object);
    }

    [[noreturn, gnu::cold, gnu::noinline]] static void refuse(void* object,
                                                              std::string_view routine) noexcept {
        const bool was = addressOf(object) % minAlignment == 0 && headerOf(object).mark == freed;
        platform::abortWithMessage(routine, was && routine == "free" ? "double free"
                                            : was                    ? "use of a freed object"
                                                                     : "invalid pointer");
    }

    /// Returns an object `lead` bytes into a block that `take` takes from the heap of this thread.
    template <class Take>
    void* with(std::size_t size, std::size_t lead, Take take) noexcept {
        std::size_t whole = 0;
        if (__builtin_add_overflow(size, lead, &whole)) {
            return nullptr;
        }
        const std::size_t index = heaps_.myIndex();
        void* const block = take(heaps_[index], whole);
        if (block == nullptr) {
            return nullptr;
        }
        void* const object = forward(block, lead);
        ::new (backward(object, header))
            Header{0, static_cast<std::uint32_t>(index) & 0xFFFFFU,
                   static_cast<std::uint32_t>(floorLog2(lead)) & 0xFFFU, live};
        return object;
    }
};

} // namespace heapwright
