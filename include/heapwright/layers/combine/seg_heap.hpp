// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Segregated fits: a freed object waits on the list of the largest class that it can serve. A
// request searches from its class upward and takes from the first list with an object. An object
// may thus leave the class it was made for.
//
// Objects keep their real size, which the superheap knows. The superheap may be able to split. Then
// an object that is too large by a class or more is cut to the class of the request. `resize`
// shrinks it in place, and `mallocHeld` serves the rest. Otherwise the larger object serves as it
// is. `PerClass` only keeps objects (a list over `NullHeap`). Requests beyond the largest class go
// straight to the superheap, and so do their frees. If the superheap reports what it holds, all
// lists are returned to it before it fetches memory, so that free objects may merge.
// Invariant: a list with objects has its bit set. A list whose bit is set may be empty.
// Cost: a bit scan and the list, and a cut if the fit is not exact.
// Source: Comfort ("Multiword list items", 1964), and many since, as in the survey by Wilson and
// others (1995).
//
// Example: SegHeap<PowerOfTwo<29>, FreelistHeap<NullHeap>, SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/sizeclass/at_least.hpp>
#include <heapwright/sizeclass/size_classes.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/list/class_lists.hpp>
#include <heapwright/structure/map/bit_set.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace heapwright {

template <SizeClasses Classes, CacheOnlyHeap PerClass, SizedHeap SuperHeap>
    requires AnyOrderHeap<SuperHeap> && KeepsClasses<PerClass, Classes>
class SegHeap : private ClassLists<SegHeap<Classes, PerClass, SuperHeap>, PerClass, Classes>,
                private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    using Lists = ClassLists<SegHeap, PerClass, Classes>;
    using Lists::lists_;

    static constexpr bool splits = ResizableHeap<SuperHeap> && HoldingHeap<SuperHeap>;

    using Raised = RaisedTo<leastObjectOf<PerClass>, Classes>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    // An object from a list fits any request that is sent to it.
    static constexpr bool uniform = uniformHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects =
        ForeignFreeHeap<PerClass> && ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "keeps what is freed by size, searches upward for a fit";
    using Below = Heaps<PerClass, SuperHeap>;

    constexpr SegHeap() noexcept = default;
    ~SegHeap() { flush(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const object = mallocHeld(size);
        return object != nullptr ? object : SuperHeap::malloc(rounded(size));
    }

    /// The first object on the lists upward, else an object that the superheap holds. If neither
    /// exists, all lists are flushed to merge, and the superheap is searched again.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        if (void* const waiting = takeFit(Raised::classFor(size))) {
            return waiting;
        }
        if constexpr (HoldingHeap<SuperHeap>) {
            void* const object = SuperHeap::mallocHeld(rounded(size));
            return object == nullptr && flush() ? SuperHeap::mallocHeld(rounded(size)) : object;
        } else {
            return nullptr;
        }
    }

    /// A held object is cleared. Fresh memory may be zero already.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        void* const object = mallocHeld(size);
        return object == nullptr ? SuperHeap::zalloc(rounded(size)) : std::memset(object, 0, size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        if constexpr (AlignedHoldingHeap<SuperHeap>) {
            void* object = SuperHeap::memalignHeld(align, rounded(size));
            if (object == nullptr && flush()) {
                object = SuperHeap::memalignHeld(align, rounded(size));
            }
            if (object != nullptr) {
                return object;
            }
        }
        return SuperHeap::memalign(align, rounded(size));
    }

    void free(void* object) noexcept {
        const std::size_t index = Classes::classOf(SuperHeap::getSize(object));
        if (index < Classes::count && Lists::keeps(object, index)) [[likely]] {
            occupied_.set(index);
        } else {
            SuperHeap::free(object);
        }
    }

    /// In place if the superheap can. Otherwise only if the size fits and at most half is wasted.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        if constexpr (ResizableHeap<SuperHeap>) {
            return SuperHeap::resize(object, rounded(size));
        } else {
            const std::size_t have = SuperHeap::getSize(object);
            return size <= have && rounded(size) > have / 2;
        }
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return SuperHeap::relocate(object, rounded(size));
    }

    /// Returns all objects on the lists to the superheap.
    bool flush() noexcept {
        occupied_.clear();
        return Lists::flushLists(static_cast<SuperHeap&>(*this));
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        flush();
        return SuperHeap::trim(pad);
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        occupied_.clear();
        Lists::clearLists();
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap> && MeasurableHeap<PerClass>
    {
        SuperHeap::measure(usage);
        Lists::measureLists(usage);
    }

    using Forwards::getSize;
    using Forwards::owns;

private:
    static constexpr std::size_t rounded(std::size_t size) noexcept {
        const std::size_t index = Raised::classFor(size);
        return index < Classes::count ? Classes::sizeOf(index) : size;
    }

    /// Takes an object of this class or the next class upward that has one; null if none has.
    void* takeFit(std::size_t index) noexcept {
        for (std::size_t at = occupied_.next(index); at < Classes::count;
             at = occupied_.next(at + 1)) {
            if (void* const object = lists_[at].mallocHeld(Classes::sizeOf(at))) [[likely]] {
                Lists::woken(object, at);
                if constexpr (splits) {
                    if (at != index) {
                        cut(object, Classes::sizeOf(index));
                    }
                }
                return object;
            }
            occupied_.reset(at);
        }
        return nullptr;
    }

    /// If the superheap cannot shrink it, the object stays as it is.
    [[gnu::noinline]] void cut(void* object, std::size_t size) noexcept {
        [[maybe_unused]] const bool smaller = SuperHeap::resize(object, size);
    }

    BitSet<Classes::count> occupied_;
};

} // namespace heapwright
