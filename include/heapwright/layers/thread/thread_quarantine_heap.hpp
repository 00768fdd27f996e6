// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Delays reuse in each thread: a freed object is filled with a poison. It first waits in one of
// `Objects` places drawn at random, until another object draws that place. Then it waits in a queue
// of as many places. When it leaves, the poison is checked, and the object goes below. An attacker
// thus cannot choose which object is reused next, and a stale pointer points to poison and not to a
// new object. Mistakes end the program:
//
//   heapwright: free(): use after free   a waiting object was written to; found when it leaves
//   heapwright: free(): double free      the object already waits in this thread's quarantine
//
// The layer writes only the poison into a waiting object. An array of the thread's slot holds one
// word for each waiting object, so an attacker has no link to overwrite. At most `Bytes` bytes wait
// for a thread; beyond that, the queue is released first. Objects of more than 1/16 of that do not
// wait, and neither do those of threads without a slot. A thread that ends checks its objects and
// releases them, because each would keep a whole superblock in use. Frees of later destructors do
// not wait. When the heap below has no memory, the caller's waiting objects go there.
//
// Invariant: a waiting object is in one place and poisoned, and the byte count is at least the sum
// of those waiting. This holds after every instruction, because another thread may fork at any
// moment.
// Cost: the fill and the check, one pass over the object each, and a random number. A few pages for
// each live thread, and the waiting objects.
// Source: random slots before a queue are from hardened_malloc, the quarantine from
// AddressSanitizer.
//
// Example: ThreadQuarantineHeap<256, 64 * KiB, 64, MallocHeap>
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
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/build.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/platform/rarely.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/platform/thread_exit.hpp>
#include <heapwright/structure/cache/fast_path.hpp>
#include <heapwright/structure/cache/poisoned.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/object/short_fill.hpp>
#include <heapwright/structure/random_numbers.hpp>
#include <heapwright/structure/signal/request_state.hpp>
#include <heapwright/sync/shared_word.hpp>
#include <heapwright/sync/thread_slot.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace heapwright {

template <std::size_t Objects, std::size_t Bytes, std::size_t Slots, ConcurrentHeap SuperHeap>
    requires SizedHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class ThreadQuarantineHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    /// The waiting objects of one thread, in pages of its own.
    struct ThreadQuarantine {
        RandomNumbers numbers;
        SharedWord<std::size_t> bytes; ///< a thread that forks may read it
        std::size_t next = 0;          ///< the place in the queue to fill next
        /// The place of the oldest object of the queue; `next` if the queue is empty or full. A
        /// fork during an operation may leave a wrong value.
        std::size_t oldest = 0;
        /// The random place to empty next when the byte limit is reached.
        std::size_t victim = 0;
        Poisoned drawn[Objects];
        Poisoned queue[Objects];
    };
    static constexpr std::size_t largest = Bytes / 16;
    /// The most heaps of a type whose objects are released when a thread ends. In further heaps the
    /// next owner of the thread's slot inherits them.
    static constexpr std::size_t mostHeaps = 16;
    /// Whether the calling thread has released its objects, because it ends.
    using Ended = platform::PerThread<ThreadQuarantineHeap, bool>;

    static_assert(Objects >= 1 && Slots >= 1 && Slots <= threadSlots);
    static_assert(largest <= Poisoned::largest);

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool concurrent = true;
    /// An exit hook of each thread uses the heap below, inside a `SlowPath`.
    static constexpr bool runsAtThreadExit = true;
    static constexpr bool processLocal = true; ///< slots belong to the threads of a process
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "lets what a thread frees wait, poisoned, and leave in random order";
    /// The largest size of `freeKnownFast`.
    static constexpr std::size_t mostKnownFast = std::min(ShortFill::longest, largest);
    using Below = Heaps<SuperHeap>;

    constexpr ThreadQuarantineHeap() noexcept = default;
    ThreadQuarantineHeap(const ThreadQuarantineHeap&) = delete;
    ThreadQuarantineHeap& operator=(const ThreadQuarantineHeap&) = delete;
    ~ThreadQuarantineHeap() {
        leaveTable();
        forEachQuarantine([this](ThreadQuarantine& quarantine) { releaseAll(quarantine); });
        dropQuarantines();
    }

    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        void* const object = SuperHeap::malloc(size);
        return object != nullptr ? object
                                 : afterRelease([this, size] { return SuperHeap::malloc(size); });
    }

    [[nodiscard, gnu::always_inline]] void* tryMallocKnown(std::size_t size,
                                                           std::size_t& usable) noexcept
        requires FastKnownMallocHeap<SuperHeap>
    {
        return SuperHeap::tryMallocKnown(size, usable);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        void* const object = SuperHeap::zalloc(size);
        return object != nullptr ? object
                                 : afterRelease([this, size] { return SuperHeap::zalloc(size); });
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        void* const object = SuperHeap::memalign(align, size);
        return object != nullptr
                   ? object
                   : afterRelease([this, align, size] { return SuperHeap::memalign(align, size); });
    }

    void free(void* object) noexcept { freeKnown(object, SuperHeap::getSize(object)); }

    /// Fills and checks `usable` bytes.
    /// Pre: `usable` is from `getSize`. A size that an overflow can change would let the fill
    /// overwrite other objects.
    [[gnu::always_inline]] void freeKnown(void* object, std::size_t usable) noexcept {
        wait(object, usable);
    }

    /// The fill needs no call.
    [[gnu::always_inline]] void freeKnownFast(void* object, std::size_t usable) noexcept
        requires FastSizeHeap<SuperHeap> && (mostKnownFast >= minAlignment)
    {
        if (usable < minAlignment || usable > mostKnownFast) {
            __builtin_unreachable();
        }
        wait(object, usable);
    }

    [[nodiscard, gnu::always_inline]] static std::size_t tryGetSizeFast(void* object) noexcept
        requires FastSizeHeap<SuperHeap>
    {
        return SuperHeap::tryGetSizeFast(object);
    }

    /// For a caller that may be inside the heap: a signal handler.
    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept {
        if constexpr (UnlockedSizeHeap<SuperHeap>) {
            return SuperHeap::getSizeUnlocked(object);
        } else {
            return SuperHeap::getSize(object);
        }
    }

    /// Only for objects too large to wait, because a move without a free would bypass the
    /// quarantine.
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return SuperHeap::getSize(object) > largest ? SuperHeap::relocate(object, size) : nullptr;
    }

    /// Ends the wait of the caller's objects and flushes the superheap; true if there were any.
    bool flush() noexcept {
        const bool any = releaseMine();
        if constexpr (FlushableHeap<SuperHeap>) {
            return SuperHeap::flush() || any;
        } else {
            return any;
        }
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        releaseMine();
        return SuperHeap::trim(pad);
    }

    /// Pre: no other thread uses the heap.
    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        dropQuarantines();
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        forEachQuarantine([&usage](const ThreadQuarantine& quarantine) {
            anyIn(quarantine, [&usage](Poisoned waiting) {
                usage.held += waiting.size();
                ++usage.heldCount;
                return false;
            });
        });
    }

    /// Waiting objects count as cached. A thread may change its own meanwhile, so each figure is
    /// from some moment.
    void inspect(HeapSnapshot& snapshot) noexcept
        requires InspectableHeap<SuperHeap>
    {
        SuperHeap::inspect(snapshot);
        forEachQuarantine([this, &snapshot](const ThreadQuarantine& quarantine) {
            anyIn(quarantine, [this, &snapshot](Poisoned waiting) {
                snapshot.addWaiting(classOf(waiting.object()), waiting.size());
                return false;
            });
        });
    }

    /// Reports the waiting objects whose poison is intact.
    void walk(const ObjectVisitor& visit) noexcept
        requires WalkableHeap<SuperHeap>
    {
        const auto told = [this, &visit](LiveObject object) {
            object.cached = object.cached || waitsAnywhere(object);
            visit(object);
        };
        SuperHeap::walk(ObjectVisitor(told));
    }

    using Forwards::check;
    using Forwards::getSize;
    using Forwards::heldByThisThread;
    using Forwards::mallocHeld; ///< waiting objects do not count as held
    using Forwards::memalignHeld;
    using Forwards::owns;
    using Forwards::purgeExpired;
    using Forwards::resize;

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
    /// Seeds the child anew. The next owners of the slots inherit the waiting objects of threads
    /// that the child does not have.
    void afterForkInChild() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInChild();
        }
        forEachQuarantine([](ThreadQuarantine& quarantine) { quarantine.numbers.forget(); });
        for (std::size_t slot = 0; slot < Slots; ++slot) {
            if (slot != threadSlotIfTaken()) {
                active_[slot].store(nullptr, std::memory_order_relaxed);
            }
        }
        visitors_.store(0, std::memory_order_relaxed);
        keepOnlyMySlot();
    }

    /// Checks and releases all objects of the calling thread, in all heaps of the type. The
    /// thread's exit hook.
    static void leave() noexcept {
        const SlowPath::Entry entry; // a handler may interrupt it here
        Ended::mine() = true;
        const std::size_t slot = threadSlotIfTaken();
        if (slot >= Slots) {
            return;
        }
        visitors_.fetchAdd(1, std::memory_order_seq_cst);
        for (SharedWord<ThreadQuarantineHeap*>& place : heaps_) {
            if (ThreadQuarantineHeap* const heap = place.load(std::memory_order_seq_cst)) {
                heap->end(slot);
            }
        }
        visitors_.fetchSub(1, std::memory_order_release);
    }

private:
    /// The calling thread's quarantine; null if it can have none.
    [[nodiscard, gnu::always_inline]] ThreadQuarantine* mine() noexcept {
        if (const std::size_t slot = threadSlotIfTaken(); slot < Slots) [[likely]] {
            ThreadQuarantine* const quarantine = active_[slot].load(std::memory_order_acquire);
            if (quarantine != nullptr) [[likely]] {
                return quarantine;
            }
        }
        return begun();
    }

    [[gnu::always_inline]] void wait(void* object, std::size_t usable) noexcept {
        ThreadQuarantine* const quarantine = usable <= largest ? mine() : nullptr;
        if (platform::rarely(quarantine == nullptr)) {
            freeAtOnce(object);
            return;
        }
        if (Poisoned::looksSo(object, usable) && waitsIn(*quarantine, object)) [[unlikely]] {
            platform::abortWithMessage("free", "double free");
        }
        if (platform::rarely(admit(*quarantine, Poisoned(object, usable)) > Bytes)) {
            shrink(*quarantine);
        }
    }

    [[gnu::noinline]] void freeAtOnce(void* object) noexcept { SuperHeap::free(object); }

    static std::size_t quarantinePages() noexcept {
        return roundUp(sizeof(ThreadQuarantine), platform::pageSize());
    }

    /// Starts the calling thread's quarantine, with the pages of a previous owner of the slot if
    /// there are any.
    [[gnu::cold, gnu::noinline]] ThreadQuarantine* begun() noexcept {
        const std::size_t slot = threadSlot();
        if (slot >= Slots || Ended::mine() || !leavesAtTheEnd()) {
            return nullptr;
        }
        ThreadQuarantine* quarantine = quarantines_[slot].load(std::memory_order_acquire);
        if (quarantine == nullptr) {
            void* const pages = platform::mapPages(quarantinePages());
            if (pages == nullptr) {
                return nullptr;
            }
            quarantine = ::new (pages) ThreadQuarantine;
            quarantines_[slot].store(quarantine, std::memory_order_release);
        }
        enterTable();
        active_[slot].store(quarantine, std::memory_order_release);
        return quarantine;
    }

    [[nodiscard]] static bool leavesAtTheEnd() noexcept {
        if constexpr (platform::scheduled) {
            return true; // its quarantines are inherited
        } else {
            // One round before the caches below return their objects.
            return platform::AtThreadExit<leave, 2>::arrange();
        }
    }

    /// Ends the quarantine of the calling thread, which has a slot.
    void end(std::size_t slot) noexcept {
        ThreadQuarantine* const quarantine = active_[slot].load(std::memory_order_acquire);
        if (quarantine == nullptr) {
            return;
        }
        releaseAll(*quarantine);
        active_[slot].store(nullptr, std::memory_order_relaxed);
        // Not unmapped, because another thread may be reading it.
        platform::discardPages(quarantine, quarantinePages());
    }

    /// Enters this heap into the table of the type's heaps, if it is not there and has room.
    void enterTable() noexcept {
        for (SharedWord<ThreadQuarantineHeap*>& place : heaps_) {
            ThreadQuarantineHeap* there = nullptr;
            if (place.compareExchange(there, this, std::memory_order_seq_cst,
                                      std::memory_order_acquire) ||
                there == this) {
                return;
            }
        }
    }

    /// Removes this heap from the table. Waits for threads that end meanwhile.
    void leaveTable() noexcept {
        bool was = false;
        for (SharedWord<ThreadQuarantineHeap*>& place : heaps_) {
            if (place.load(std::memory_order_relaxed) == this) {
                place.store(nullptr, std::memory_order_seq_cst);
                was = true;
            }
        }
        while (was && visitors_.load(std::memory_order_seq_cst) != 0) {
            platform::yieldProcessor();
        }
    }

    /// The next place, without a division.
    static std::size_t after(std::size_t place) noexcept {
        if constexpr (std::has_single_bit(Objects)) {
            return (place + 1) % Objects;
        } else {
            return place + 1 == Objects ? 0 : place + 1;
        }
    }

    /// Returns the number of waiting bytes.
    [[gnu::always_inline]] std::size_t admit(ThreadQuarantine& quarantine,
                                             Poisoned fresh) noexcept {
        std::size_t bytes = quarantine.bytes.load(std::memory_order_relaxed) + fresh.size();
        quarantine.bytes.store(bytes, std::memory_order_relaxed);
        Poisoned& place = quarantine.drawn[quarantine.numbers.below(Objects)];
        const Poisoned pushedOut = place;
        place = fresh;
        if (pushedOut.isNone()) [[unlikely]] {
            return bytes;
        }
        Poisoned& end = quarantine.queue[quarantine.next];
        const Poisoned oldest = end;
        end = pushedOut;
        quarantine.next = after(quarantine.next);
        if (!oldest.isNone()) [[likely]] {
            quarantine.oldest = quarantine.next;
            release(oldest);
            bytes -= oldest.size();
            quarantine.bytes.store(bytes, std::memory_order_relaxed);
        }
        return bytes;
    }

    /// Checks the poison and frees the object to the superheap.
    /// Pre: there is an object.
    [[gnu::always_inline]] void release(Poisoned leaving) noexcept {
        if (!leaving.isIntact()) [[unlikely]] {
            platform::abortWithMessage("free", "use after free");
        }
        leaving.unmark();
        if constexpr (SplitPathHeap<SuperHeap>) {
            if (platform::rarely(!SuperHeap::tryFreeFast(leaving.object()))) {
                SuperHeap::freeSlow(leaving.object());
            }
        } else {
            SuperHeap::free(leaving.object());
        }
    }

    void release(ThreadQuarantine& quarantine, Poisoned leaving) noexcept {
        release(leaving);
        quarantine.bytes.store(quarantine.bytes.load(std::memory_order_relaxed) - leaving.size(),
                               std::memory_order_relaxed);
    }

    static Poisoned takenFrom(Poisoned& place) noexcept {
        const Poisoned taken = place;
        place = Poisoned();
        return taken;
    }

    /// Releases objects until at most `Bytes` bytes wait.
    [[gnu::noinline]] void shrink(ThreadQuarantine& quarantine) noexcept {
        do {
            releaseOne(quarantine);
        } while (quarantine.bytes.load(std::memory_order_relaxed) > Bytes);
    }

    /// Releases the oldest object of the queue, or else one from the random places.
    void releaseOne(ThreadQuarantine& quarantine) noexcept {
        if (Poisoned& first = quarantine.queue[quarantine.oldest]; !first.isNone()) {
            quarantine.oldest = after(quarantine.oldest);
            release(quarantine, takenFrom(first));
            return;
        }
        for (std::size_t each = 0; each < Objects; ++each) {
            quarantine.victim = after(quarantine.victim);
            if (!quarantine.drawn[quarantine.victim].isNone()) {
                release(quarantine, takenFrom(quarantine.drawn[quarantine.victim]));
                return;
            }
        }
        releaseAll(quarantine); // a fork interrupted an owner: `oldest` and the bytes are wrong
        quarantine.bytes.store(0, std::memory_order_relaxed);
    }

    /// Returns true if there were any.
    [[gnu::noinline]] bool releaseAll(ThreadQuarantine& quarantine) noexcept {
        bool any = false;
        const auto releaseIn = [&](Poisoned& place) {
            if (!place.isNone()) {
                any = true;
                release(quarantine, takenFrom(place));
            }
        };
        std::for_each(quarantine.queue, quarantine.queue + Objects, releaseIn);
        std::for_each(quarantine.drawn, quarantine.drawn + Objects, releaseIn);
        quarantine.oldest = quarantine.next;
        return any;
    }

    bool releaseMine() noexcept {
        const std::size_t slot = threadSlotIfTaken();
        ThreadQuarantine* const quarantine =
            slot < Slots ? active_[slot].load(std::memory_order_acquire) : nullptr;
        return quarantine != nullptr && releaseAll(*quarantine);
    }

    /// Whether `is` is true for any waiting object.
    template <class Is>
    static bool anyIn(const ThreadQuarantine& quarantine, Is is) noexcept {
        const auto isIt = [&is](const Poisoned& place) {
            const Poisoned waiting = Poisoned::seenIn(place);
            return !waiting.isNone() && is(waiting);
        };
        return std::any_of(quarantine.queue, quarantine.queue + Objects, isIt) ||
               std::any_of(quarantine.drawn, quarantine.drawn + Objects, isIt);
    }

    [[gnu::cold, gnu::noinline]] static bool waitsIn(const ThreadQuarantine& quarantine,
                                                     const void* object) noexcept {
        return anyIn(quarantine, [object](Poisoned waiting) { return waiting.object() == object; });
    }

    [[nodiscard]] bool waitsAnywhere(const LiveObject& object) noexcept {
        bool found = false;
        if (object.size <= largest && Poisoned::looksSo(object.address, object.size)) {
            forEachQuarantine([&](const ThreadQuarantine& quarantine) {
                found = found || waitsIn(quarantine, object.address);
            });
        }
        return found;
    }

    /// The size class of a live object, if the heap below reports it; else none.
    [[nodiscard]] std::size_t classOf(void* object) noexcept {
        if constexpr (TaggedClassHeap<SuperHeap>) {
            return this->hasOwnerTag(object) ? this->classAt(object) : LiveObject::noClass;
        } else {
            return LiveObject::noClass;
        }
    }

    /// Releases the caller's objects and asks again.
    template <class Get>
    [[gnu::cold, gnu::noinline]] void* afterRelease(Get get) noexcept {
        return releaseMine() ? get() : nullptr;
    }

    template <class Visit>
    void forEachQuarantine(Visit visit) noexcept {
        for (SharedWord<ThreadQuarantine*>& place : quarantines_) {
            if (ThreadQuarantine* const quarantine = place.load(std::memory_order_acquire)) {
                visit(*quarantine);
            }
        }
    }

    void dropQuarantines() noexcept {
        for (SharedWord<ThreadQuarantine*>& place : quarantines_) {
            if (ThreadQuarantine* const quarantine = place.load(std::memory_order_acquire)) {
                platform::unmapPages(quarantine, quarantinePages());
                place.store(nullptr, std::memory_order_relaxed);
            }
        }
        for (SharedWord<ThreadQuarantine*>& place : active_) {
            place.store(nullptr, std::memory_order_relaxed);
        }
    }

    static inline constinit SharedWord<ThreadQuarantineHeap*> heaps_[mostHeaps];
    static inline constinit SharedWord<std::uint32_t> visitors_; ///< threads that read `heaps_`

    /// The quarantine of each slot's present owner; null until its first free.
    SharedWord<ThreadQuarantine*> active_[Slots];
    /// All quarantines by slot; null until the slot's first.
    SharedWord<ThreadQuarantine*> quarantines_[Slots];
};

} // namespace heapwright
