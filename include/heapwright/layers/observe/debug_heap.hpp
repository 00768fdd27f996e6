// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps a map of all live objects, apart from the memory of the heap below, and ends the program in
// one line on what contradicts it:
//
//   heapwright: free(): double free                       an object that was freed before
//   heapwright: free(): pointer inside an object          an address within a live object
//   heapwright: free(): invalid pointer                   any other address that is no live object
//   heapwright: free(): use after free                    the fill of a freed object was changed
//   heapwright: malloc(): overlapping object              the heap below gave out memory in use
//
// Where another routine is given the pointer, it is named instead (`realloc`, `malloc_usable_size`)
// and a freed object is a `use of a freed object`. New memory is filled with `newByte`, freed
// memory with `freedByte`, so that what is read too early or too late is conspicuous: as a pointer,
// eight such bytes are an address that no program has. Of objects beyond a mebibyte only the first
// mebibyte is filled and compared.
//
// A freed object waits here before it goes below, so that its fill can be trusted: the last 256, a
// mebibyte at most. It is compared when it leaves, so such a write shows some frees later, or
// at `flush`, `trim`, `clear` or the destructor, and the routine named is `free` whichever of them
// it was. The addresses of the last 4096 freed objects are remembered; an older one that is freed
// again is an invalid pointer. When memory is out below, what waits is handed down first.
//
// Invariants: the live and the waiting objects in the map do not overlap. `getSize` answers what
// was asked for. The destructor frees what is still live where the heap below would not return it.
// Objects have no tag here, since only the map counts: put the layer over `AlignHeap`. Not for
// several threads: put `LockedHeap` around.
// Cost: O(log n) in the map for each verb, and the fills; 48 bytes for each live object.
// The live-object map is from Heap Layers (Berger, 2001), the fills are older than malloc.
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
    static constexpr bool processLocal = true; ///< its map is in memory of its own
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr std::string_view caption =
        "maps live objects, fills memory, aborts on misuse of it";
    using Below = Heaps<SuperHeap>;

    static constexpr unsigned char newByte = 0xC3;
    static constexpr unsigned char freedByte = 0xDB;

    constexpr DebugHeap() noexcept = default;
    ~DebugHeap() {
        passDownAll();
        if constexpr (!ClearableHeap<SuperHeap>) { // which returns them by itself
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

    /// What was asked for, to the byte.
    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return objects_.live(object, "malloc_usable_size").size;
    }

    /// Also where the superheap has no such verb: it is where `realloc` shows its pointer.
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

    /// Hands what waits down, and has the superheap do the same.
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

    /// Whether an address lies in an object that is live or waits here.
    [[nodiscard]] bool owns(const void* object) const noexcept { return objects_.owns(object); }

    /// How many objects are live: at the end of a program, how many have leaked.
    [[nodiscard]] std::size_t liveCount() const noexcept { return objects_.liveCount(); }

    /// Runs `visit(object, size)` on each live object, in the order of addresses; it may not
    /// allocate or free here.
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

    /// Hands the object that has waited longest to the superheap.
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
