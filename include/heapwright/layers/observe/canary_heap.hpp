// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Guards both ends of each object with an unpredictable word. It ends the program if one of them
// has changed when the object is freed or resized:
//
//   heapwright: free(): overflow        a byte right behind the requested size was changed
//   heapwright: free(): underflow       the word before the object was, or it is no object
//   heapwright: free(): double free     the object is freed, and its mark is still in place
//
// Other verbs are reported with their routine (`realloc`, `malloc_usable_size`), and a freed object
// is then reported as `use of a freed object`.
//
//   [ unused ][ size, distance | canary ] object: exactly the size [ canary ][ slack ]
//             16 bytes before the object                            8 bytes
//
// Invariant: The canary before an object is a mix of its address, its size and a secret of the
// process. So a changed size also shows. The canary after it is another mix. The object starts `1
// << distance` bytes into the memory from below: 16, except for aligned objects. `getSize` returns
// the requested size, because a use of more bytes would change the canary. The layer's only state
// is the secret, one for each type, so it is as concurrent as the heap below.
//
// An object that is never freed is never checked. A write that skips the canary is not detected.
// Objects have no tag here, so put the layer over `AlignHeap` or another layer that aligns. Put it
// also over `SignalSafeHeap`, whose list of deferred frees would overwrite the canary of an object
// below 8 bytes.
// Cost: 24 bytes for each object, two mixes and two compares.
// Source: StackGuard (Cowan, 1998).
//
// Example: CanaryHeap<MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/random.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace heapwright {

template <Heap SuperHeap>
    requires(SuperHeap::alignment % minAlignment == 0)
class CanaryHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;
    /// The header before each object.
    struct Header {
        /// The highest bits hold the distance, as the exponent of a power of two.
        std::uint64_t sizeAndDistance;
        std::uint64_t canary;
    };
    static_assert(sizeof(Header) == minAlignment);
    static constexpr unsigned distanceShift = 58;
    static constexpr std::size_t largest = std::size_t{1} << (distanceShift - 1);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool processLocal = true; ///< the secret belongs to the process
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap> % minAlignment;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "guards both ends of each object with a secret word";
    using Below = Heaps<SuperHeap>;

    constexpr CanaryHeap() noexcept = default;
    ~CanaryHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return obtain(size, minAlignment, [&](std::size_t n) { return SuperHeap::malloc(n); });
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return obtain(size, minAlignment, [&](std::size_t n) { return SuperHeap::zalloc(n); });
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return obtain(size, minAlignment, [&](std::size_t n) { return SuperHeap::mallocHeld(n); });
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        const std::size_t unit = align < minAlignment ? minAlignment : align;
        return obtain(size, unit, [&](std::size_t n) { return SuperHeap::memalign(unit, n); });
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        const std::size_t unit = align < minAlignment ? minAlignment : align;
        return obtain(size, unit, [&](std::size_t n) { return SuperHeap::memalignHeld(unit, n); });
    }

    void free(void* object) noexcept {
        check(object, "free");
        void* const memory = memoryOf(object);
        headerOf(object).canary = freedMark(object);
        SuperHeap::free(memory);
    }

    /// The requested size, to the byte.
    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        check(object, "malloc_usable_size");
        return sizeOf(object);
    }

    /// If the superheap cannot resize, into the room of the existing memory.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        check(object, "realloc");
        const std::size_t distance = distanceOf(object);
        const std::size_t whole = wholeOf(size, distance);
        if (whole == 0 || !fits(memoryOf(object), whole, size <= sizeOf(object))) {
            return false;
        }
        seal(object, size, distance);
        return true;
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        check(object, "realloc");
        const std::size_t distance = distanceOf(object);
        const std::size_t whole = wholeOf(size, distance);
        void* const memory = whole == 0 ? nullptr : SuperHeap::relocate(memoryOf(object), whole);
        return memory == nullptr ? nullptr : seal(forward(memory, distance), size, distance);
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::clear;
    using Forwards::flush;
    using Forwards::heldByThisThread;
    using Forwards::measure;
    using Forwards::owns;
    using Forwards::trim;

private:
    static Header& headerOf(void* object) noexcept {
        return *static_cast<Header*>(backward(object, sizeof(Header)));
    }
    static std::size_t sizeOf(void* object) noexcept {
        return headerOf(object).sizeAndDistance & ((std::uint64_t{1} << distanceShift) - 1);
    }
    static std::size_t distanceOf(void* object) noexcept {
        return std::size_t{1} << (headerOf(object).sizeAndDistance >> distanceShift);
    }
    static void* memoryOf(void* object) noexcept { return backward(object, distanceOf(object)); }

    /// The size of an object with its guards; 0 on overflow.
    static std::size_t wholeOf(std::size_t size, std::size_t distance) noexcept {
        return size > largest || distance > largest ? 0 : distance + size + sizeof(std::uint64_t);
    }

    template <class Ask>
    void* obtain(std::size_t size, std::size_t distance, Ask ask) noexcept {
        const std::size_t whole = wholeOf(size, distance);
        void* const memory = whole == 0 ? nullptr : ask(whole);
        return memory == nullptr ? nullptr : seal(forward(memory, distance), size, distance);
    }

    bool fits(void* memory, std::size_t whole, bool shrinks) noexcept {
        if constexpr (ResizableHeap<SuperHeap>) {
            return SuperHeap::resize(memory, whole);
        } else if constexpr (SizedHeap<SuperHeap>) {
            return whole <= SuperHeap::getSize(memory);
        } else {
            return shrinks;
        }
    }

    static void* seal(void* object, std::size_t size, std::size_t distance) noexcept {
        const std::uint64_t word = size | (floorLog2(distance) << distanceShift);
        ::new (backward(object, sizeof(Header))) Header{word, frontFor(object, word)};
        const std::uint64_t back = backFor(object);
        std::memcpy(forward(object, size), &back, sizeof back);
        return object;
    }

    static void check(void* object, std::string_view routine) noexcept {
        if (addressOf(object) % minAlignment != alignmentOffset) [[unlikely]] {
            platform::abortWithMessage(routine, "invalid pointer");
        }
        const Header& front = headerOf(object);
        if (front.canary != frontFor(object, front.sizeAndDistance)) [[unlikely]] {
            refuse(object, routine);
        }
        const std::uint64_t back = backFor(object);
        if (std::memcmp(forward(object, sizeOf(object)), &back, sizeof back) != 0) [[unlikely]] {
            platform::abortWithMessage(routine, "overflow");
        }
    }

    [[noreturn, gnu::cold, gnu::noinline]] static void refuse(void* object,
                                                              std::string_view routine) noexcept {
        const bool freed = headerOf(object).canary == freedMark(object);
        platform::abortWithMessage(routine, !freed              ? "underflow"
                                            : routine == "free" ? "double free"
                                                                : "use of a freed object");
    }

    // Three different mixes of an address: before the object, after it, and for a freed one.
    static std::uint64_t frontFor(void* object, std::uint64_t sizeAndDistance) noexcept {
        return mixed(addressOf(object) ^ mixed(sizeAndDistance));
    }
    /// No byte of it is zero, so a string whose end is one byte too far always shows.
    static std::uint64_t backFor(void* object) noexcept {
        return mixed(addressOf(object) + 1) | 0x0101010101010101U;
    }
    static std::uint64_t freedMark(void* object) noexcept { return mixed(addressOf(object) + 2); }

    /// A mix that depends on every bit of the number and of the secret (Stafford's variant 13 of
    /// the MurmurHash3 finaliser).
    static std::uint64_t mixed(std::uint64_t number) noexcept {
        const std::uint64_t secret = secretWord();
        number ^= secret;
        number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9U;
        number = (number ^ (number >> 27U)) * 0x94D049BB133111EBU;
        return number ^ (number >> 31U) ^ secret;
    }

    static std::uint64_t secretWord() noexcept {
        const std::uint64_t known = secret_.load(std::memory_order_relaxed);
        return known != 0 ? known : drawn();
    }

    /// Draws the secret for the first object. If several threads draw at once, one result is kept.
    [[gnu::cold, gnu::noinline]] static std::uint64_t drawn() noexcept {
        std::uint64_t before = 0;
        const std::uint64_t fresh = platform::randomBits() | 1U;
        return secret_.compare_exchange_strong(before, fresh, std::memory_order_relaxed) ? fresh
                                                                                         : before;
    }

    static inline constinit std::atomic<std::uint64_t> secret_{0}; ///< 0 until it is drawn
};

} // namespace heapwright
