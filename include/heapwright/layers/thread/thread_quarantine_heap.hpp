// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Delays reuse, for each thread by itself: what a thread frees is filled with a poison and waits,
// first in one of `Objects` places drawn at random, out of which the next that draws it pushes it,
// then in a queue of as many. When it leaves, the poison is looked at, and it goes below. So which
// object will serve next nobody can arrange, a pointer that the program still uses points to poison
// and not to somebody's new object, and mistakes end the program:
//
//   heapwright: free(): use after free   one that waited has been written to; seen when it leaves
//   heapwright: free(): double free      an object is freed that waits in this thread's quarantine
//
// Nothing is written into a waiting object but the poison: which ones wait stands in an array of
// the thread's slot, a word for each, so there is no link to be led astray. No more than `Bytes`
// bytes wait for a thread: beyond that the queue goes first. Objects of more than 1/16 of that, and
// those of threads without a slot, do not wait. What a thread leaves behind the next tenant of its
// slot inherits. When there is no memory below, what waits for the caller goes there.
// Invariant, at every instruction, since a fork of another thread may leave the child with what
// stands here at any moment: a waiting object is in one place and poisoned; the bytes counted are
// not below those that wait.
// Cost: the fill and the look, one pass over the object each; a random number; of memory a page or
// a few a thread and what waits. Random slots before a queue are from hardened_malloc, the
// quarantine from AddressSanitizer.
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
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/cache/fast_path.hpp>
#include <heapwright/structure/cache/poisoned.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/random_numbers.hpp>
#include <heapwright/sync/shared_word.hpp>
#include <heapwright/sync/thread_slot.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>
#include <string_view>

namespace heapwright {

template <std::size_t Objects, std::size_t Bytes, std::size_t Slots, ConcurrentHeap SuperHeap>
    requires SizedHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class ThreadQuarantineHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    /// What waits for one thread, in pages of its own.
    struct ThreadQuarantine {
        RandomNumbers numbers;
        SharedWord<std::size_t> bytes; ///< others read it
        SharedWord<std::size_t> count; ///< the same
        std::size_t next = 0;          ///< the place in the queue to be filled next
        std::size_t victim = 0;        ///< the drawn place to be emptied next when bytes run out
        Poisoned drawn[Objects];
        Poisoned queue[Objects];
    };
    static constexpr std::size_t largest = Bytes / 16;

    static_assert(Objects >= 1 && Slots >= 1 && Slots <= threadSlots);
    static_assert(largest <= Poisoned::largest);

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true; ///< slots are those of a process's threads
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "lets what a thread frees wait, poisoned, and leave in random order";
    using Below = Heaps<SuperHeap>;

    constexpr ThreadQuarantineHeap() noexcept = default;
    ThreadQuarantineHeap(const ThreadQuarantineHeap&) = delete;
    ThreadQuarantineHeap& operator=(const ThreadQuarantineHeap&) = delete;
    ~ThreadQuarantineHeap() {
        forEachQuarantine([this](ThreadQuarantine& quarantine) { releaseAll(quarantine); });
        dropQuarantines();
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return orAfterRelease([&] { return SuperHeap::malloc(size); });
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return orAfterRelease([&] { return SuperHeap::zalloc(size); });
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return orAfterRelease([&] { return SuperHeap::memalign(align, size); });
    }

    void free(void* object) noexcept {
        const std::size_t size = SuperHeap::getSize(object);
        ThreadQuarantine* const quarantine = size <= largest ? mine() : nullptr;
        if (quarantine == nullptr) [[unlikely]] {
            SuperHeap::free(object);
            return;
        }
        if (Poisoned::looksSo(object, size) && waitsIn(*quarantine, object)) [[unlikely]] {
            platform::abortWithMessage("free", "double free");
        }
        admit(*quarantine, Poisoned(object, size));
        while (quarantine->bytes.load(std::memory_order_relaxed) > Bytes) [[unlikely]] {
            releaseOne(*quarantine);
        }
    }

    /// For a caller that may be inside the heap itself, a signal handler.
    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept {
        if constexpr (UnlockedSizeHeap<SuperHeap>) {
            return SuperHeap::getSizeUnlocked(object);
        } else {
            return SuperHeap::getSize(object);
        }
    }

    /// Only what would not wait: what moves without a free would not be seen.
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return SuperHeap::getSize(object) > largest ? SuperHeap::relocate(object, size) : nullptr;
    }

    /// Ends the wait of what the caller freed, and lets the superheap do the like; true if there
    /// was any.
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

    /// Nobody else may be inside.
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
            usage.held += quarantine.bytes.load(std::memory_order_relaxed);
            usage.heldCount += quarantine.count.load(std::memory_order_relaxed);
        });
    }

    /// What waits counts as cached. A thread changes its own while it is looked at: then it is told
    /// as of some moment each.
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

    /// The same, of those that nobody has written to.
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
    using Forwards::mallocHeld; ///< freed objects that wait do not count as held
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
    /// The child draws other numbers than its parent. What the threads that are gone let wait,
    /// others will inherit.
    void afterForkInChild() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInChild();
        }
        forEachQuarantine([](ThreadQuarantine& quarantine) { quarantine.numbers.forget(); });
        keepOnlyMySlot();
    }

private:
    /// The calling thread's; null if it can have none.
    [[nodiscard, gnu::always_inline]] ThreadQuarantine* mine() noexcept {
        const std::size_t slot = threadSlot();
        if (slot >= Slots) [[unlikely]] {
            return nullptr;
        }
        ThreadQuarantine* const quarantine = quarantines_[slot].load(std::memory_order_acquire);
        return quarantine != nullptr ? quarantine : made(slot);
    }

    static std::size_t quarantinePages() noexcept {
        return roundUp(sizeof(ThreadQuarantine), platform::pageSize());
    }

    [[gnu::cold, gnu::noinline]] ThreadQuarantine* made(std::size_t slot) noexcept {
        void* const pages = platform::mapPages(quarantinePages());
        if (pages == nullptr) {
            return nullptr;
        }
        auto* const quarantine = ::new (pages) ThreadQuarantine;
        quarantines_[slot].store(quarantine, std::memory_order_release);
        return quarantine;
    }

    /// Places are found again though `Objects` is any number.
    static std::size_t after(std::size_t place) noexcept {
        return place + 1 == Objects ? 0 : place + 1;
    }

    static void count(ThreadQuarantine& quarantine, std::size_t bytes,
                      std::size_t objects) noexcept {
        quarantine.bytes.store(quarantine.bytes.load(std::memory_order_relaxed) + bytes,
                               std::memory_order_relaxed);
        quarantine.count.store(quarantine.count.load(std::memory_order_relaxed) + objects,
                               std::memory_order_relaxed);
    }

    void admit(ThreadQuarantine& quarantine, Poisoned fresh) noexcept {
        count(quarantine, fresh.size(), 1);
        Poisoned& place = quarantine.drawn[quarantine.numbers.below(Objects)];
        const Poisoned pushedOut = place;
        place = fresh;
        if (pushedOut.isNone()) {
            return;
        }
        Poisoned& end = quarantine.queue[quarantine.next];
        const Poisoned oldest = end;
        end = pushedOut;
        quarantine.next = after(quarantine.next);
        release(quarantine, oldest);
    }

    /// Looks at the poison and hands the object down.
    void release(ThreadQuarantine& quarantine, Poisoned leaving) noexcept {
        if (leaving.isNone()) {
            return;
        }
        if (!leaving.isIntact()) [[unlikely]] {
            platform::abortWithMessage("free", "use after free");
        }
        leaving.unmark();
        SuperHeap::free(leaving.object());
        count(quarantine, 0 - leaving.size(), 0 - std::size_t{1});
    }

    static Poisoned takenFrom(Poisoned& place) noexcept {
        const Poisoned taken = place;
        place = Poisoned();
        return taken;
    }

    /// The oldest of the queue, or else one that was drawn.
    void releaseOne(ThreadQuarantine& quarantine) noexcept {
        for (std::size_t each = 0, at = quarantine.next; each < Objects; ++each, at = after(at)) {
            if (!quarantine.queue[at].isNone()) {
                release(quarantine, takenFrom(quarantine.queue[at]));
                return;
            }
        }
        for (std::size_t each = 0; each < Objects; ++each) {
            quarantine.victim = after(quarantine.victim);
            if (!quarantine.drawn[quarantine.victim].isNone()) {
                release(quarantine, takenFrom(quarantine.drawn[quarantine.victim]));
                return;
            }
        }
        quarantine.bytes.store(0, std::memory_order_relaxed); // a tenant that a fork cut off
        quarantine.count.store(0, std::memory_order_relaxed); // left it miscounted
    }

    /// True if there was any.
    bool releaseAll(ThreadQuarantine& quarantine) noexcept {
        bool any = false;
        for (Poisoned& place : quarantine.queue) {
            any = any || !place.isNone();
            release(quarantine, takenFrom(place));
        }
        for (Poisoned& place : quarantine.drawn) {
            any = any || !place.isNone();
            release(quarantine, takenFrom(place));
        }
        return any;
    }

    bool releaseMine() noexcept {
        const std::size_t slot = threadSlotIfTaken();
        ThreadQuarantine* const quarantine =
            slot < Slots ? quarantines_[slot].load(std::memory_order_acquire) : nullptr;
        return quarantine != nullptr && releaseAll(*quarantine);
    }

    /// Whether `is` says so of any that waits, asked until it does.
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

    /// The size class of an object in use, where the heap below says so; else none.
    [[nodiscard]] std::size_t classOf(void* object) noexcept {
        if constexpr (TaggedClassHeap<SuperHeap>) {
            return this->hasOwnerTag(object) ? this->classAt(object) : LiveObject::noClass;
        } else {
            return LiveObject::noClass;
        }
    }

    template <class Get>
    [[gnu::always_inline]] void* orAfterRelease(Get get) noexcept {
        void* const object = get();
        if (object == nullptr) [[unlikely]] {
            return releaseMine() ? get() : nullptr;
        }
        return object;
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
    }

    SharedWord<ThreadQuarantine*> quarantines_[Slots]; ///< by thread slot; null: not needed yet
};

} // namespace heapwright
