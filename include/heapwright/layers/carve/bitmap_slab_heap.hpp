// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Objects of one size in slabs of `SlabSize` bytes. A bitmap at the head of the slab marks the free
// ones. Objects thus have neither header nor link, and a freed object is not touched. Requests of
// more than `ObjectSize` bytes return null. Use it beside a heap that serves those.
//
// A slab is aligned to its size, so masking an object's address gives its slab. If the superheap
// cannot align, a slab takes twice its size from it. Slabs with free objects are filled before
// others. One empty slab is kept, and further ones are returned.
//
// A second free ends the program with `heapwright: free(): double free`. A free of an address that
// is no object of the slab ends it with `heapwright: free(): invalid pointer`. Neither is detected
// after the slab has been returned.
// Cost: a bit scan; two compares and a division by a constant to free.
// Source: Bonwick's slabs (1994) with the bitmaps of phkmalloc (Kamp 1998).
//
// Example: BitmapSlabHeap<64, 16 * KiB, MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/map/bit_set.hpp>

#include <bit>
#include <cstddef>
#include <new>
#include <string_view>

namespace heapwright {

template <std::size_t ObjectSize, std::size_t SlabSize, AnyOrderHeap SuperHeap>
class BitmapSlabHeap : private SuperHeap {
    static constexpr std::size_t stride = roundUp(ObjectSize, minAlignment);

    /// Invariant: A slab is on the list of full slabs if no object is free, and kept aside if all
    /// are free. Otherwise it is on the list of partial slabs.
    struct Slab {
        Slab* next = nullptr;
        Slab* previous = nullptr;
        void* memory = nullptr;    ///< the address from the superheap
        std::size_t vacancies = 0; ///< number of set bits
        std::size_t hint = 0;      ///< no bit before this one is set
        BitSet<SlabSize / stride> vacant;
    };

    static constexpr std::size_t first = roundUp(sizeof(Slab), minAlignment);
    /// The last bytes stay unused: the layer below may add a tag, which should not need one more
    /// page.
    static constexpr std::size_t room = SlabSize - minAlignment;
    static constexpr std::size_t perSlab = room > first ? (room - first) / stride : 0;

    static_assert(ObjectSize >= 1 && std::has_single_bit(SlabSize));
    static_assert(perSlab >= 1, "a slab holds at least one object");

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool uniform = false; // the superheap receives requests for slabs only
    static constexpr std::string_view caption =
        "objects of one size in slabs, a bitmap says which are free";
    using Below = Heaps<SuperHeap>;

    constexpr BitmapSlabHeap() noexcept = default;
    ~BitmapSlabHeap() { returnAll(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (size > ObjectSize) [[unlikely]] {
            return nullptr;
        }
        if (partial_ == nullptr && !refill(empty_ != nullptr ? empty_ : fresh())) [[unlikely]] {
            return nullptr;
        }
        return taken(partial_);
    }

    /// An object of the present slabs, else null.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        if (size > ObjectSize || (partial_ == nullptr && !refill(empty_))) {
            return nullptr;
        }
        return taken(partial_);
    }

    void free(void* object) noexcept {
        Slab* const slab = slabOf(object);
        const std::size_t offset = addressOf(object) - addressOf(slab) - first;
        const std::size_t index = offset / stride;
        if (index >= perSlab || index * stride != offset) [[unlikely]] {
            platform::abortWithMessage("free", "invalid pointer");
        }
        if (slab->vacant.has(index)) [[unlikely]] {
            platform::abortWithMessage("free", "double free");
        }
        slab->vacant.set(index);
        slab->hint = index < slab->hint ? index : slab->hint;
        ++slab->vacancies;
        if (slab->vacancies == 1) {
            unlink(full_, slab);
            link(partial_, slab);
        }
        if (slab->vacancies == perSlab) {
            retire(slab);
        }
    }

    [[nodiscard]] std::size_t getSize(void* /*object*/) noexcept { return ObjectSize; }

    [[nodiscard]] bool resize(void* /*object*/, std::size_t size) noexcept {
        return size <= ObjectSize;
    }

    /// Returns the empty slab that is kept and flushes the superheap; true if there was any.
    bool flush() noexcept {
        const bool any = dropEmpty();
        if constexpr (FlushableHeap<SuperHeap>) {
            return SuperHeap::flush() || any;
        } else {
            return any;
        }
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        dropEmpty();
        return SuperHeap::trim(pad);
    }

    void clear() noexcept {
        if constexpr (ClearableHeap<SuperHeap>) {
            partial_ = full_ = empty_ = nullptr;
            SuperHeap::clear();
        } else {
            returnAll();
        }
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        std::size_t vacancies = empty_ != nullptr ? perSlab : 0;
        for (const Slab* slab = partial_; slab != nullptr; slab = slab->next) {
            vacancies += slab->vacancies;
        }
        usage.held += vacancies * stride;
        usage.heldCount += vacancies;
    }

    /// Searches the lists, because an address of another heap must not be accessed.
    [[nodiscard]] bool owns(const void* object) const noexcept {
        const Slab* const slab = slabOf(object);
        return isListed(partial_, slab) || isListed(full_, slab);
    }

private:
    template <class Object>
    static Slab* slabOf(Object* object) noexcept {
        return static_cast<Slab*>(pointerTo(roundDown(addressOf(object), SlabSize)));
    }

    static void link(Slab*& list, Slab* slab) noexcept {
        slab->previous = nullptr;
        slab->next = list;
        if (list != nullptr) {
            list->previous = slab;
        }
        list = slab;
    }
    static void unlink(Slab*& list, Slab* slab) noexcept {
        (slab->previous != nullptr ? slab->previous->next : list) = slab->next;
        if (slab->next != nullptr) {
            slab->next->previous = slab->previous;
        }
    }
    static bool isListed(const Slab* list, const Slab* wanted) noexcept {
        while (list != nullptr && list != wanted) {
            list = list->next;
        }
        return list != nullptr;
    }

    /// Takes the first free object.
    /// Pre: the slab has one.
    void* taken(Slab* slab) noexcept {
        const std::size_t index = slab->vacant.next(slab->hint);
        slab->vacant.reset(index);
        slab->hint = index + 1;
        --slab->vacancies;
        if (slab->vacancies == 0) {
            unlink(partial_, slab);
            link(full_, slab);
        }
        return forward(slab, first + index * stride);
    }

    /// Makes an empty slab the one to fill; false if `slab` is null.
    [[gnu::noinline]] bool refill(Slab* slab) noexcept {
        if (slab == nullptr) {
            return false;
        }
        empty_ = nullptr;
        link(partial_, slab);
        return true;
    }

    [[gnu::noinline]] Slab* fresh() noexcept {
        void* const memory = aligned();
        if (memory == nullptr) {
            return nullptr;
        }
        Slab* const slab = ::new (pointerTo(roundUp(addressOf(memory), SlabSize))) Slab;
        slab->memory = memory;
        slab->vacancies = perSlab;
        for (std::size_t index = 0; index < perSlab; ++index) {
            slab->vacant.set(index);
        }
        return slab;
    }

    /// Memory with room for a slab at a multiple of its size.
    void* aligned() noexcept {
        if constexpr (AlignedHeap<SuperHeap>) {
            return SuperHeap::memalign(SlabSize, room);
        } else {
            return SuperHeap::malloc(SlabSize + room);
        }
    }

    [[gnu::noinline]] void retire(Slab* slab) noexcept {
        unlink(partial_, slab);
        if (empty_ == nullptr) {
            empty_ = slab;
        } else {
            SuperHeap::free(slab->memory);
        }
    }

    bool dropEmpty() noexcept {
        Slab* const slab = empty_;
        empty_ = nullptr;
        if (slab != nullptr) {
            SuperHeap::free(slab->memory);
        }
        return slab != nullptr;
    }

    void returnAll() noexcept {
        dropEmpty();
        for (Slab** const list : {&partial_, &full_}) {
            while (Slab* const slab = *list) {
                *list = slab->next;
                SuperHeap::free(slab->memory);
            }
        }
    }

    Slab* partial_ = nullptr; ///< some objects free, some not; the one to fill comes first
    Slab* full_ = nullptr;    ///< no object free
    Slab* empty_ = nullptr;   ///< all objects free; at most one, on no list
};

} // namespace heapwright
