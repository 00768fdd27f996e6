// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps a map of all live objects outside the memory of the heap below, and ends the program with
// one line on a contradiction:
//
//   heapwright: free(): double free                       an object that was freed before
//   heapwright: free(): pointer inside an object          an address within a live object
//   heapwright: free(): invalid pointer                   any other address that is no live object
//   heapwright: free(): use after free                    the fill of a freed object was changed
//   heapwright: malloc(): overlapping object              the heap below returned memory in use
//
// Other routines are reported by name (`realloc`, `malloc_usable_size`), and a freed object is then
// reported as `use of a freed object`. New memory is filled with `newByte`, freed memory with
// `freedByte`, so that early and late reads are conspicuous: eight such bytes are no valid address.
// Only the first MiB of an object is filled and compared.
//
// A freed object is kept here for some time before it goes below, so that its fill can be compared.
// The layer keeps the last 256 objects, at most one MiB. It is compared when it leaves. A write to
// a freed object thus shows some frees later, or at `flush`, `trim`, `clear` or the destructor. The
// message always names the routine `free`. The addresses of the last 4096 freed objects are
// remembered. A second free of an older one is reported as an invalid pointer. If the heap below
// has no memory, the kept objects are freed first.
//
// Invariant: live and kept objects in the map do not overlap. `getSize` returns the requested size.
// The destructor frees live objects if the heap below would not free them. Objects have no tag
// here, because only the map counts, so put the layer over `AlignHeap`. It is not for several
// threads: put `LockedHeap` around it.
// Cost: O(log n) in the map for each verb, and the fills; 48 bytes for each live object.
// Source: the live-object map is from Heap Layers (Berger, 2001).
//
// Example: DebugHeap<MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/map/life_map.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace heapwright {

template <AnyOrderHeap SuperHeap>
class DebugHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    using Entry = LifeMap::Entry;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool processLocal = true; ///< its map uses memory of its own
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr std::string_view caption =
        "maps live objects, fills memory, aborts on misuse of it";
    using Below = Heaps<SuperHeap>;

    static constexpr unsigned char newByte = 0xC3;
    static constexpr unsigned char freedByte = 0xDB;

    constexpr DebugHeap() noexcept = default;
    ~DebugHeap() {
        passDownAll();
        if constexpr (!ClearableHeap<SuperHeap>) { // such a heap frees them itself
            forEachLive([this](void* object, std::size_t) { SuperHeap::free(object); });
        }
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return filled(obtain(size, [&] { return SuperHeap::malloc(size); }), size);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return obtain(size, [&] { return SuperHeap::zalloc(size); });
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return filled(obtain(size, [&] { return SuperHeap::memalign(align, size); }), size);
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return filled(obtain(size, [&] { return SuperHeap::mallocHeld(size); }), size);
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return filled(obtain(size, [&] { return SuperHeap::memalignHeld(align, size); }), size);
    }

    void free(void* object) noexcept {
        Entry& entry = objects_.live(object, "free");
        std::memset(object, freedByte, comparedOf(entry.size));
        objects_.retire(entry);
        while (objects_.waitingCount() > mostWaiting || objects_.waitingBytes() > mostBytes) {
            passDown(*objects_.oldest());
        }
    }

    /// The requested size, to the byte.
    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return objects_.live(object, "malloc_usable_size").size;
    }

    /// Exists for any superheap, because `realloc` checks its pointer here.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        Entry& entry = objects_.live(object, "realloc");
        if constexpr (ResizableHeap<SuperHeap>) {
            if (!SuperHeap::resize(object, size)) {
                return false;
            }
        } else if (size > entry.size) {
            return false;
        }
        const std::size_t before = entry.size;
        objects_.resize(entry, size, "realloc");
        fillBehind(object, before, size);
        return true;
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        Entry& entry = objects_.live(object, "realloc");
        void* const moved = SuperHeap::relocate(object, size);
        if (moved != nullptr) {
            const std::size_t before = entry.size;
            objects_.move(entry, moved, size, "realloc");
            fillBehind(moved, before, size);
        }
        return moved;
    }

    /// Frees the kept objects and flushes the superheap.
    bool flush() noexcept {
        const bool any = passDownAll();
        if constexpr (FlushableHeap<SuperHeap>) {
            return SuperHeap::flush() || any;
        } else {
            return any;
        }
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        passDownAll();
        return SuperHeap::trim(pad);
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        passDownAll();
        SuperHeap::clear();
        objects_.clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        usage.held += objects_.waitingBytes();
        usage.heldCount += objects_.waitingCount();
    }

    /// Whether an address lies in an object that is live or kept here.
    [[nodiscard]] bool owns(const void* object) const noexcept { return objects_.owns(object); }

    /// The number of live objects. At the end of a program, these have leaked.
    [[nodiscard]] std::size_t liveCount() const noexcept { return objects_.liveCount(); }

    /// Runs `visit(object, size)` on each live object, in the order of addresses.
    /// Pre: it does not allocate or free here.
    template <class Visit>
    void forEachLive(Visit visit) const noexcept {
        objects_.forEachLive(visit);
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;

private:
    static constexpr std::size_t mostWaiting = 256;
    static constexpr std::size_t mostBytes = 1 * MiB;
    static_assert(mostWaiting < LifeMap::remembered);

    static std::size_t comparedOf(std::size_t size) noexcept {
        return size < mostBytes ? size : mostBytes;
    }

    static void* filled(void* object, std::size_t size) noexcept {
        return object == nullptr ? nullptr : std::memset(object, newByte, comparedOf(size));
    }

    static void fillBehind(void* object, std::size_t before, std::size_t size) noexcept {
        if (size > before) {
            filled(forward(object, before), size - before);
        }
    }

    template <class Ask>
    void* obtain(std::size_t size, Ask ask) noexcept {
        Entry* const entry = objects_.reserve();
        if (entry == nullptr) {
            return nullptr;
        }
        void* object = ask();
        if (object == nullptr && passDownAll()) {
            object = ask();
        }
        if (object == nullptr) {
            objects_.release(entry);
            return nullptr;
        }
        objects_.add(entry, object, size, "malloc");
        return object;
    }

    /// Frees the oldest kept object to the superheap.
    void passDown(Entry& entry) noexcept {
        void* const object = pointerTo(entry.start);
        const auto* const bytes = static_cast<const unsigned char*>(object);
        for (std::size_t i = 0; i < comparedOf(entry.size); ++i) {
            if (bytes[i] != freedByte) [[unlikely]] {
                platform::abortWithMessage("free", "use after free");
            }
        }
        objects_.letGo(entry);
        SuperHeap::free(object);
    }

    bool passDownAll() noexcept {
        const bool any = objects_.waitingCount() != 0;
        while (objects_.waitingCount() != 0) {
            passDown(*objects_.oldest());
        }
        return any;
    }

    LifeMap objects_;
};

} // namespace heapwright
