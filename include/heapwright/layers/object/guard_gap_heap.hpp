// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Leaves `Gap` bytes of inaccessible pages behind each run, and makes freed runs inaccessible for a
// while. An access past the end of a superblock or a large object, or in a freed one, ends the
// program. The signal is SIGSEGV at that instruction.
//
//   | run … | closed gap | run … | closed gap |          freed: | closed … until it leaves |
//
// A gap takes addresses and no memory. A freed run gives its memory back at once and stays closed
// until `Wait` bytes of addresses were freed after it (0: not at all). Larger runs are not kept,
// but their memory is released, too. The heap below thus never gets a run with old contents. A run
// that shrinks keeps its addresses and releases the pages beyond its end; it is refused if less
// than a quarter stays. Linux allows 65,530 mappings per process, and each gap splits one into
// three. At most `Most` runs are therefore closed at a time. The gaps of further runs stay
// accessible but unused. The set of closed runs lies apart (structure/map/closed_runs.hpp) and
// needs no waiting, so the layer is as concurrent as the heap below.
//
// Invariant: the heap below gets runs back open, as it returned them. Blocks of one size become
// smaller by the gap (`blockSize`). A heap with runs of any length gets a larger request.
// Cost: Two system calls to allocate a run and one to free it, or three if it is kept. In addition,
// the first touch of its pages.
// Source: the guard regions of hardened_malloc, after Electric Fence (Perens, 1987).
//
// Example: GuardGapHeap<32 * KiB, 1 * MiB, 16384, FutexLock, AlignedBlockHeap<64 * KiB, 4 * MiB, MmapHeap>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/guard_pages.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/map/closed_runs.hpp>
#include <heapwright/structure/thread/fork_holds.hpp>
#include <heapwright/sync/lock.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heapwright {

/// A heap whose objects are whole pages.
template <class H>
concept PageHeap =
    SizedHeap<H> && H::alignment % platform::smallestPage == 0 && alignmentOffsetOf<H> == 0;

/// A heap whose blocks, if they have one size, are larger than a gap.
template <class H, std::size_t Gap>
concept RoomForGap = PhaseAlignedHeap<H> || blockSizeOf<H> == 0 || (blockSizeOf<H> > Gap);

template <std::size_t Gap, std::size_t Wait, std::size_t Most, Lock Mutex, PageHeap SuperHeap>
    requires AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap> && RoomForGap<SuperHeap, Gap>
class GuardGapHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    static_assert(Gap > 0 && Gap % platform::smallestPage == 0);

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    /// The size of blocks, if the heap below has them.
    static constexpr std::size_t blockSize =
        PhaseAlignedHeap<SuperHeap> || blockSizeOf<SuperHeap> == 0 ? blockSizeOf<SuperHeap>
                                                                   : blockSizeOf<SuperHeap> - Gap;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool processLocal = true; ///< the closed runs belong to the process
    static constexpr bool ownsLockFree = LockFreeOwningHeap<SuperHeap>;
    /// Only this heap knows which runs it has closed.
    static constexpr bool acceptsForeignObjects = false;
    static constexpr std::string_view caption = "leaves inaccessible pages behind each run";
    using Below = Heaps<SuperHeap>;

    constexpr GuardGapHeap() noexcept = default;
    GuardGapHeap(const GuardGapHeap&) = delete;
    GuardGapHeap& operator=(const GuardGapHeap&) = delete;
    ~GuardGapHeap() {
        releaseDownTo(0);
        openAll();
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return obtain(size, [&](std::size_t whole) { return SuperHeap::malloc(whole); });
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return obtain(size, [&](std::size_t whole) { return SuperHeap::zalloc(whole); });
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return obtain(size, [&](std::size_t whole) { return SuperHeap::memalign(align, whole); });
    }

    /// At `phase` modulo `align`, if the heap below supports that.
    [[nodiscard]] void* mallocAt(std::size_t size, std::size_t align, std::size_t phase) noexcept
        requires PhaseAlignedHeap<SuperHeap>
    {
        return obtain(size,
                      [&](std::size_t whole) { return SuperHeap::mallocAt(whole, align, phase); });
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        const std::size_t whole = wholeOf(size);
        return whole == 0 ? nullptr : guarded(SuperHeap::mallocHeld(whole));
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        const std::size_t whole = wholeOf(size);
        return whole == 0 ? nullptr : guarded(SuperHeap::memalignHeld(align, whole));
    }

    void free(void* run) noexcept {
        const std::size_t whole = SuperHeap::getSize(run);
        const bool waits = whole <= Wait ? closed_.letWait(run, whole, gapOf(run))
                                         : !closed_.open(gapOf(run), Gap);
        if (!waits) {
            wipe(run, addressOf(gapOf(run)) - addressOf(run));
            SuperHeap::free(run);
        }
        releaseDownTo(Wait);
    }

    [[nodiscard]] std::size_t getSize(void* run) noexcept {
        return addressOf(gapOf(run)) - addressOf(run);
    }

    [[nodiscard]] bool resize(void* run, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        const std::size_t whole = wholeOf(size);
        const std::size_t have = getSize(run);
        if (whole != 0 && whole - Gap < have) {
            const std::size_t kept = whole - Gap;
            const bool stays = kept >= have / 4;
            if (stays) {
                wipe(forward(run, kept), have - kept);
            }
            return stays;
        }
        if (whole == 0 || !closed_.open(gapOf(run), Gap)) {
            return false;
        }
        const bool done = SuperHeap::resize(run, whole);
        guarded(run);
        return done;
    }

    [[nodiscard]] void* relocate(void* run, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        const std::size_t whole = wholeOf(size);
        if (whole == 0 || !closed_.open(gapOf(run), Gap)) {
            return nullptr;
        }
        void* const moved = SuperHeap::relocate(run, whole);
        guarded(moved == nullptr ? run : moved);
        return moved;
    }

    [[nodiscard]] bool owns(const void* object) const noexcept
        requires ConstOwningHeap<SuperHeap>
    {
        return SuperHeap::owns(object);
    }

    /// Ends the wait of all runs and flushes the superheap; true if there were any.
    bool flush() noexcept {
        const bool any = releaseDownTo(0);
        if constexpr (FlushableHeap<SuperHeap>) {
            return SuperHeap::flush() || any;
        } else {
            return any;
        }
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        releaseDownTo(0);
        return SuperHeap::trim(pad);
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        openAll();
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        closed_.measure(usage);
    }

    /// Runs `body(start, bytes, alone)` on each run in use, without its gap. Skips closed runs,
    /// which no thread may touch.
    /// Pre: the heap is quiescent, as for a snapshot.
    template <class Body>
    void forEachRun(Body body) noexcept
        requires RunListingHeap<SuperHeap>
    {
        SuperHeap::forEachRun([&](void* run, std::size_t bytes, bool alone) {
            if (!closed_.waits(run)) {
                body(run, bytes - Gap, alone);
            }
        });
    }

    void beforeFork() noexcept { holds_.hold(visit()); }
    void afterForkInParent() noexcept {
        holds_.letGo(visit(), [](auto& part) { part.afterForkInParent(); });
    }
    void afterForkInChild() noexcept {
        holds_.letGo(visit(), [](auto& part) { part.afterForkInChild(); });
    }
    /// Always false, because `beforeFork` takes only the locks that this thread does not hold yet.
    [[nodiscard]] static bool heldByThisThread() noexcept { return false; }

    using Forwards::inspect; ///< gaps and closed runs count as in use
    using Forwards::owns;
    using Forwards::purgeExpired;

private:
    /// The size of a run with its gap; 0 on overflow.
    static std::size_t wholeOf(std::size_t size) noexcept {
        std::size_t whole = 0;
        const std::size_t page = platform::pageSize();
        return __builtin_add_overflow(size, Gap + page - 1, &whole) ? 0 : roundDown(whole, page);
    }

    /// Makes whole pages read as zero.
    static void wipe(void* pages, std::size_t bytes) noexcept {
        if (!platform::discardPages(pages, bytes)) [[unlikely]] {
            std::memset(pages, 0, bytes); // they are locked in memory
        }
    }

    [[nodiscard]] void* gapOf(void* run) noexcept {
        return pointerTo(roundDown(addressOf(run) + SuperHeap::getSize(run), platform::pageSize()) -
                         Gap);
    }

    /// If there is no memory, all closed runs are freed first.
    template <class Get>
    void* obtain(std::size_t size, Get get) noexcept {
        const std::size_t whole = wholeOf(size);
        if (whole == 0) {
            return nullptr;
        }
        void* run = get(whole);
        if (run == nullptr && releaseDownTo(0)) {
            run = get(whole);
        }
        return guarded(run);
    }

    void* guarded(void* run) noexcept {
        if (run != nullptr) [[likely]] {
            closed_.close(gapOf(run), Gap);
        }
        return run;
    }

    /// Frees the oldest closed runs until at most `most` bytes wait; true if it freed any.
    bool releaseDownTo(std::size_t most) noexcept {
        return closed_.releaseDownTo(most, [this](void* run) { SuperHeap::free(run); });
    }

    /// Enumerates what a fork holds.
    [[nodiscard]] auto visit() noexcept {
        return [this](std::size_t index, auto body) {
            if (index == 0) {
                body(closed_);
            } else if constexpr (ForkableHeap<SuperHeap>) {
                body(static_cast<SuperHeap&>(*this));
            }
        };
    }

    void openAll() noexcept { closed_.clear(Gap); }

    /// The number of places: no waiting run is smaller than a page and its gap.
    ClosedRuns<Mutex, Most, Wait / (Gap + platform::smallestPage) + 1> closed_;
    ForkHolds<ForkableHeap<SuperHeap> ? 2 : 1> holds_;
};

} // namespace heapwright
