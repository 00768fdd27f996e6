// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Serves requests of zero bytes with addresses of pages that cannot be accessed. A read or write of
// such an object ends the program at that instruction by SIGSEGV. All other requests go to the heap
// below.
//
// The addresses lie in a reservation of `Bytes` bytes, which takes no memory. One bit for each says
// whether an object is live there. Addresses are reused in a circle, so a freed address is reused
// as late as possible. If the reservation fails or is full, or a larger alignment is requested, the
// heap below serves one byte. The bits are changed atomically, so the layer needs no lock, and a
// signal handler that interrupted it may enter it. It does not detect a double free: put
// `LiveMapHeap` above.
// Cost: a compare for each free; a few atomic operations for each object of zero bytes.
// Source: the zero-size class of hardened_malloc.
//
// Example: EmptyObjectHeap<1 * MiB, MallocHeap>
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
#include <heapwright/platform/guard_pages.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/cache/fast_path.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

template <std::size_t Bytes, MaxAlignedHeap SuperHeap>
    requires SizedHeap<SuperHeap> && AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class EmptyObjectHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;
    static constexpr std::size_t perWord = 64;
    static constexpr std::size_t wordCount = Bytes / minAlignment / perWord;
    static_assert(Bytes % platform::smallestPage == 0 && std::has_single_bit(wordCount));

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool processLocal = true; ///< its addresses belong to the process
    static constexpr bool acceptsEmpty = true;
    /// Only this heap knows its reservation.
    static constexpr bool acceptsForeignObjects = false;
    static constexpr std::string_view caption =
        "serves zero bytes with addresses that cannot be accessed";
    using Below = Heaps<SuperHeap>;

    constexpr EmptyObjectHeap() noexcept = default;
    EmptyObjectHeap(const EmptyObjectHeap&) = delete;
    EmptyObjectHeap& operator=(const EmptyObjectHeap&) = delete;
    ~EmptyObjectHeap() {
        if (const Address start = start_.load(std::memory_order_acquire); start > failed) {
            platform::unmapPages(pointerTo(start), Bytes);
        }
    }

    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        if (size == 0) [[unlikely]] {
            if (void* const object = next()) {
                return object;
            }
            size = 1;
        }
        return SuperHeap::malloc(size);
    }

    [[nodiscard, gnu::always_inline]] void* mallocAtOnce(std::size_t size) noexcept
        requires AtOnceHeap<SuperHeap>
    {
        return size == 0 ? nullptr : SuperHeap::mallocAtOnce(size);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        if (size == 0) [[unlikely]] {
            if (void* const object = next()) {
                return object;
            }
            size = 1;
        }
        return SuperHeap::zalloc(size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return SuperHeap::memalign(align, size != 0 ? size : 1);
    }

    [[gnu::always_inline]] void free(void* object) noexcept {
        if (isEmpty(object)) [[unlikely]] {
            release(object);
            return;
        }
        SuperHeap::free(object);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return isEmpty(object) ? 0 : SuperHeap::getSize(object);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        return isEmpty(object) ? size == 0 : SuperHeap::resize(object, size);
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return isEmpty(object) ? nullptr : SuperHeap::relocate(object, size);
    }

    void check(void* object, std::string_view routine) noexcept
        requires CheckingHeap<SuperHeap>
    {
        if (!isEmpty(object)) {
            SuperHeap::check(object, routine);
        }
    }

    void checkRequest(void* object, std::size_t size, std::size_t align,
                      std::string_view routine) noexcept
        requires RequestCheckingHeap<SuperHeap>
    {
        if (!isEmpty(object)) {
            SuperHeap::checkRequest(object, size != 0 ? size : 1, align, routine);
        } else if (size != 0 && size != anySize) {
            platform::refuseSize(routine);
        }
    }

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        return isEmpty(object) || SuperHeap::owns(object);
    }

    void walk(const ObjectVisitor& visit) noexcept
        requires WalkableHeap<SuperHeap>
    {
        SuperHeap::walk(visit);
        const Address start = start_.load(std::memory_order_acquire);
        for (std::size_t number = 0; start > failed && number < wordCount * perWord; ++number) {
            if ((bits_[number / perWord].load(std::memory_order_relaxed) & bitOf(number)) != 0) {
                visit({pointerTo(start + number * minAlignment), 0, LiveObject::noClass});
            }
        }
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::flush;
    using Forwards::heldByThisThread;
    using Forwards::inspect; ///< objects of zero bytes are not counted
    using Forwards::measure;
    using Forwards::purgeExpired;
    using Forwards::trim;

private:
    static constexpr Address failed = 1;

    [[nodiscard, gnu::always_inline]] bool isEmpty(const void* object) const noexcept {
        return addressOf(object) - start_.load(std::memory_order_relaxed) < Bytes &&
               start_.load(std::memory_order_relaxed) > failed;
    }
    [[nodiscard]] std::size_t numberOf(const void* object) const noexcept {
        return (addressOf(object) - start_.load(std::memory_order_relaxed)) / minAlignment;
    }
    static constexpr std::uint64_t bitOf(std::size_t number) noexcept {
        return std::uint64_t{1} << (number % perWord);
    }

    [[gnu::noinline]] void release(const void* object) noexcept {
        const std::size_t number = numberOf(object);
        bits_[number / perWord].fetchAnd(~bitOf(number), std::memory_order_release);
    }

    /// The next free address; null if there is none.
    [[nodiscard, gnu::noinline]] void* next() noexcept {
        const Address start = reserved();
        if (start == failed) {
            return nullptr;
        }
        const std::size_t first = turn_.fetchAdd(1, std::memory_order_relaxed);
        for (std::size_t each = 0; each <= wordCount; ++each) {
            const std::size_t at = (first / perWord + each) % wordCount;
            // In the first word, begin at the turn's bit.
            const std::uint64_t from = each == 0 ? ~std::uint64_t{0} << (first % perWord) : ~0ULL;
            std::uint64_t before = bits_[at].load(std::memory_order_relaxed);
            while ((~before & from) != 0) {
                const std::uint64_t bit = (~before & from) & (0 - (~before & from));
                if (bits_[at].compareExchange(before, before | bit, std::memory_order_acquire,
                                              std::memory_order_relaxed)) {
                    const auto number = static_cast<std::size_t>(std::countr_zero(bit));
                    return pointerTo(start + (at * perWord + number) * minAlignment);
                }
            }
        }
        return nullptr;
    }

    /// The start of the reservation, which the first call makes.
    [[nodiscard]] Address reserved() noexcept {
        const Address known = start_.load(std::memory_order_acquire);
        if (known != 0) [[likely]] {
            return known;
        }
        void* const pages = platform::reserveClosedPages(Bytes);
        const Address fresh = pages == nullptr ? failed : addressOf(pages);
        Address before = 0;
        if (start_.compareExchange(before, fresh, std::memory_order_acq_rel,
                                   std::memory_order_acquire)) {
            return fresh;
        }
        if (pages != nullptr) {
            platform::unmapPages(pages, Bytes);
        }
        return before;
    }

    SharedWord<Address> start_;                 ///< 0 before the first request of zero bytes
    SharedWord<std::size_t> turn_;              ///< number of such requests
    SharedWord<std::uint64_t> bits_[wordCount]; ///< which addresses are live
};

} // namespace heapwright
