// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Guards the end of each object with an unpredictable word, and ends the program if it has changed
// when the object is freed or resized:
//
//   heapwright: free(): overflow        one of the eight bytes right behind the requested size was
//                                       changed, or one of the last eight of the memory
//   heapwright: free(): double free     the object is freed, and its mark is still in place
//
// Other verbs are reported with their routine (`realloc`, `malloc_usable_size`), and a freed object
// is then reported as `use of a freed object`.
//
//   object: exactly the size [ canary, up to 8 bytes ][ rest ][ tail: slack and alignment ]
//                                                               the last 8 bytes of the memory
//
// The layer also knows the size and the alignment with which an object was requested
// (`checkRequest`). A resized object has no special alignment.
//
// Objects stay where they are and need no header. The layer thus costs 8 bytes where `CanaryHeap`
// costs 24, and these are mostly bytes that rounding wastes. It does not detect an underflow,
// except as the overflow of the previous object.
//
// Invariant: canary and tail are mixes of the object's address and two secrets of the process. The
// tail holds the number of slack bytes behind the object, at least 8, and the logarithm of a
// special alignment. Neither starts with a zero byte, so a string whose end is one byte too far
// always shows. The heap below reports the same size of an object as long as it lives. `getSize`
// returns the requested size, because a use of more bytes would change the canary. The layer's only
// state are the secrets, one pair for each type. It is as concurrent as the heap below, and a
// signal handler may interrupt it.
//
// Pre: the heap below reports a size of at least 8 for each object. The memory of an object
// argument is readable, so put a layer that detects wrong pointers over it. An object that is never
// freed is never checked.
// Cost: 8 bytes for each object, two multiplications to allocate and to free it. Also a call of
// `getSize`, unless the heap below reports the size at once.
// Source: the canaries of hardened_malloc.
//
// Example: TailCanaryHeap<MallocHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/random.hpp>
#include <heapwright/platform/rarely.hpp>
#include <heapwright/structure/cache/fast_path.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heapwright {

template <SizedHeap SuperHeap>
    requires AnySizeHeap<SuperHeap>
class TailCanaryHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;
    using Word = std::uint64_t;
    static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool processLocal = true; ///< the secrets belong to the process
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption = "guards the end of each object with a secret word";
    using Below = Heaps<SuperHeap>;

    constexpr TailCanaryHeap() noexcept = default;
    ~TailCanaryHeap() = default;

    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        if constexpr (FastKnownMallocHeap<SuperHeap>) {
            const std::size_t whole = wholeOf(size);
            std::size_t bytes = 0;
            void* const object = whole == 0 ? nullptr : SuperHeap::tryMallocKnown(whole, bytes);
            return object != nullptr ? seal(object, size, bytes) : mallocSlow(size);
        } else {
            return obtain(size, [&](std::size_t whole) { return SuperHeap::malloc(whole); });
        }
    }

    [[nodiscard, gnu::always_inline]] void* mallocAtOnce(std::size_t size) noexcept
        requires FastKnownMallocHeap<SuperHeap>
    {
        const Word times = times_.load(std::memory_order_acquire);
        const std::size_t whole = wholeOf(size);
        std::size_t bytes = 0;
        void* const object =
            times == 0 || whole == 0 ? nullptr : SuperHeap::tryMallocKnown(whole, bytes);
        return object == nullptr ? nullptr : seal(object, size, bytes, mixesOf(object, times));
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return obtain(size, [&](std::size_t whole) { return SuperHeap::zalloc(whole); });
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return obtain(size, [&](std::size_t whole) { return SuperHeap::mallocHeld(whole); });
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return obtain(
            size, [&](std::size_t whole) { return SuperHeap::memalign(align, whole); },
            special(align));
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return obtain(
            size, [&](std::size_t whole) { return SuperHeap::memalignHeld(align, whole); },
            special(align));
    }

    [[gnu::always_inline]] void free(void* object) noexcept {
        if constexpr (FastKnownFreeHeap<SuperHeap>) {
            const std::size_t bytes = SuperHeap::tryGetSizeFast(object);
            if (platform::rarely(bytes - minAlignment > SuperHeap::mostKnownFast - minAlignment)) {
                freeSlow(object);
                return;
            }
            // A live object exists, so the secrets are drawn.
            const Word times = times_.load(std::memory_order_relaxed);
            mark(checked(object, bytes, mixesOf(object, times), "free"));
            SuperHeap::freeKnownFast(object, bytes);
        } else {
            freeChecked(object);
        }
    }

    /// The requested size, to the byte.
    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return checked(object, "malloc_usable_size").size;
    }

    /// If the superheap cannot resize, into the room of the existing memory.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        const Room found = checked(object, "realloc");
        const std::size_t whole = wholeOf(size);
        if (whole == 0) {
            return false;
        }
        if constexpr (ResizableHeap<SuperHeap>) {
            if (!SuperHeap::resize(object, whole)) {
                return false;
            }
        } else if (whole > found.bytes) {
            return false;
        }
        seal(object, size, SuperHeap::getSize(object));
        return true;
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        static_cast<void>(checked(object, "realloc"));
        const std::size_t whole = wholeOf(size);
        void* const moved = whole == 0 ? nullptr : SuperHeap::relocate(object, whole);
        return moved == nullptr ? nullptr : seal(moved, size, SuperHeap::getSize(moved));
    }

    /// Aborts unless the end of an object is intact.
    void check(void* object, std::string_view routine) noexcept {
        static_cast<void>(checked(object, routine));
    }

    /// Aborts unless the object was requested with this size and alignment.
    void checkRequest(void* object, std::size_t size, std::size_t align,
                      std::string_view routine) noexcept {
        const Room found = checked(object, routine);
        if (size != anySize && size != found.size) [[unlikely]] {
            platform::refuseSize(routine);
        }
        if (align != anyAlignment && special(align) != found.special) [[unlikely]] {
            platform::refuseAlignment(routine);
        }
    }

    /// Reports objects with the requested size. A damaged tail is not reported here; the object
    /// then has its usable size.
    void walk(const ObjectVisitor& visit) noexcept
        requires WalkableHeap<SuperHeap>
    {
        const auto told = [&visit](LiveObject object) {
            object.size = shownSize(object);
            visit(object);
        };
        SuperHeap::walk(ObjectVisitor(told));
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::clear;
    using Forwards::flush;
    using Forwards::heldByThisThread;
    using Forwards::inspect;
    using Forwards::measure;
    using Forwards::owns;
    using Forwards::purgeExpired;
    using Forwards::trim;

private:
    /// An object's memory: usable bytes, requested bytes, the address of the tail, and the special
    /// alignment.
    struct Room {
        std::size_t bytes;
        std::size_t size;
        void* tail;
        unsigned special;
    };

    /// Mixes of an address: for the tail and for the canary before it.
    struct Mixes {
        Word tail;
        Word canary;
    };

    static constexpr unsigned firstByte = 8; ///< bits of the tail that are a canary, not a number
    static constexpr Word odd = 0x9E3779B97F4A7C15U;
    static constexpr Word inverse = 0xF1DE83E19937733DU;
    static_assert(odd * inverse == 1);

    /// The slack lies above these, so that a change of the last byte always makes it too large.
    static constexpr unsigned specialBits = 6;

    /// The logarithm of an alignment that not every object has; 0 for other alignments.
    static constexpr unsigned special(std::size_t align) noexcept {
        return align <= minAlignment ? 0 : static_cast<unsigned>(std::countr_zero(align));
    }

    /// The size of an object with its tail; 0 on overflow.
    static std::size_t wholeOf(std::size_t size) noexcept {
        std::size_t whole = 0;
        return __builtin_add_overflow(size, sizeof(Word), &whole) ? 0 : whole;
    }

    [[gnu::noinline]] void freeSlow(void* object) noexcept { freeChecked(object); }

    [[gnu::always_inline]] void freeChecked(void* object) noexcept {
        const Room found = checked(object, "free");
        mark(found);
        if constexpr (KnownSizeFreeHeap<SuperHeap>) {
            SuperHeap::freeKnown(object, found.bytes);
        } else {
            SuperHeap::free(object);
        }
    }

    /// Marks an object as freed.
    static void mark(const Room& found) noexcept { write(found.tail, ~read(found.tail)); }

    [[gnu::noinline]] void* mallocSlow(std::size_t size) noexcept {
        return obtain(size, [&](std::size_t whole) { return SuperHeap::malloc(whole); });
    }

    template <class Get>
    [[gnu::always_inline]] void* obtain(std::size_t size, Get get, unsigned special = 0) noexcept {
        const std::size_t whole = wholeOf(size);
        void* const object = whole == 0 ? nullptr : get(whole);
        return object == nullptr ? nullptr
                                 : seal(object, size, SuperHeap::getSize(object), special);
    }

    /// Writes the end of an object of `bytes` usable bytes.
    [[gnu::always_inline]] static void* seal(void* object, std::size_t size, std::size_t bytes,
                                             unsigned special = 0) noexcept {
        return seal(object, size, bytes, mixesOf(object), special);
    }
    [[gnu::always_inline]] static void* seal(void* object, std::size_t size, std::size_t bytes,
                                             Mixes mixes, unsigned special = 0) noexcept {
        const Word slack = ((bytes - size) << specialBits) | special;
        write(forward(object, size), mixes.canary); // the tail may cover some of it, or all
        write(forward(object, bytes - sizeof(Word)), ((slack * odd) << firstByte) ^ mixes.tail);
        return object;
    }

    [[nodiscard, gnu::always_inline]] Room checked(void* object,
                                                   std::string_view routine) noexcept {
        return checked(object, SuperHeap::getSize(object), mixesOf(object), routine);
    }

    [[nodiscard, gnu::always_inline]] static Room
    checked(void* object, std::size_t bytes, Mixes mixes, std::string_view routine) noexcept {
        void* const tail = forward(object, bytes - sizeof(Word));
        const Word opened = read(tail) ^ mixes.tail;
        const Word stored = storedIn(opened);
        const Word slack = stored >> specialBits;
        if (!isSlack(opened, slack, bytes)) [[unlikely]] {
            refuse(~read(tail) ^ mixes.tail, bytes, routine);
        }
        const Word seen = read(forward(object, bytes - slack));
        // Only the bytes before the tail are the canary's. Two shifts, because one may not be
        // by 64.
        const Word before = std::min<Word>(slack - sizeof(Word), sizeof(Word));
        const Word half = 4 * (sizeof(Word) - before);
        if ((((seen ^ mixes.canary) << half) << half) != 0) [[unlikely]] {
            platform::abortWithMessage(routine, "overflow");
        }
        return {bytes, bytes - slack, tail, static_cast<unsigned>(stored & specialMask)};
    }

    [[nodiscard]] static std::size_t shownSize(const LiveObject& object) noexcept {
        const std::size_t most = object.size - sizeof(Word);
        if (object.cached) {
            return most;
        }
        const Word opened = read(forward(object.address, most)) ^ mixesOf(object.address).tail;
        const Word slack = slackIn(opened);
        return isSlack(opened, slack, object.size) ? object.size - slack : most;
    }

    static constexpr Word specialMask = (Word{1} << specialBits) - 1;

    /// The slack and the special alignment.
    static Word storedIn(Word opened) noexcept {
        return (((opened >> firstByte) * inverse) << firstByte) >> firstByte;
    }
    static Word slackIn(Word opened) noexcept { return storedIn(opened) >> specialBits; }
    static bool isSlack(Word opened, Word slack, std::size_t bytes) noexcept {
        return (opened & 0xFFU) == 0 && slack - sizeof(Word) <= bytes - sizeof(Word);
    }

    [[noreturn, gnu::cold, gnu::noinline]] static void refuse(Word inverted, std::size_t bytes,
                                                              std::string_view routine) noexcept {
        const bool freed = isSlack(inverted, slackIn(inverted), bytes);
        platform::abortWithMessage(routine, !freed              ? "overflow"
                                            : routine == "free" ? "double free"
                                                                : "use of a freed object");
    }

    static Word read(const void* place) noexcept {
        Word word = 0;
        std::memcpy(&word, place, sizeof word);
        return word;
    }
    static void write(void* place, Word word) noexcept { std::memcpy(place, &word, sizeof word); }

    [[gnu::always_inline]] static Mixes mixesOf(const void* object) noexcept {
        const Word times = times_.load(std::memory_order_acquire);
        return times != 0 ? mixesOf(object, times) : mixesOf(object, drawn());
    }

    [[gnu::always_inline]] static Mixes mixesOf(const void* object, Word times) noexcept {
        Word mix = (addressOf(object) ^ plus_.load(std::memory_order_relaxed)) * times;
        mix ^= mix >> 32U;
        return {mix | 1U, (mix ^ times) | 0x0101010101010101U};
    }

    /// Draws the secrets for the first object, and returns `times_`.
    [[gnu::cold, gnu::noinline]] static Word drawn() noexcept {
        static_cast<void>(drawn(plus_));
        return drawn(times_);
    }

    /// If several threads draw at once, one result is kept.
    static Word drawn(SharedWord<Word>& place) noexcept {
        Word before = 0;
        const Word fresh = platform::randomBits() | 1U;
        return place.compareExchange(before, fresh, std::memory_order_acq_rel,
                                     std::memory_order_acquire)
                   ? fresh
                   : before;
    }

    static inline constinit SharedWord<Word> plus_{0};  ///< 0 until it is drawn
    static inline constinit SharedWord<Word> times_{0}; ///< the same, after `plus_`
};

} // namespace heapwright
