// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory for the moments when the heap itself cannot be entered: a signal handler that interrupted
// it and allocates nevertheless. Lock-free and async-signal-safe: a pointer that only moves forward
// through reserved addresses, and a count of what is live; when nothing is, it starts again.
//
// Invariants: the position and the count are one 64-bit word, changed by compare-and-swap, so they
// are never seen apart. An object's size stands in the word 16 bytes before it.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/pages.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright {

class EmergencyArena {
public:
    static constexpr std::size_t capacity = 64 * MiB;

    constexpr EmergencyArena() noexcept = default;
    EmergencyArena(const EmergencyArena&) = delete;
    EmergencyArena& operator=(const EmergencyArena&) = delete;
    ~EmergencyArena() {
        const Address base = base_.load(std::memory_order_relaxed);
        if (base != nowhere) {
            platform::unmapPages(pointerTo(base), capacity);
        }
    }

    /// Whether the arena gave out this address. One subtraction and one compare.
    [[nodiscard]] bool owns(const void* object) const noexcept {
        return addressOf(object) - base_.load(std::memory_order_relaxed) < capacity;
    }

    /// Null when the arena is full or the system has no memory. Pre: `align` is a power of two.
    [[nodiscard, gnu::cold, gnu::noinline]] void* memalign(std::size_t align,
                                                           std::size_t size) noexcept {
        align = align < minAlignment ? minAlignment : align;
        const Address base = mapped();
        if (base == nowhere || size > capacity || align > capacity) {
            return nullptr;
        }
        std::uint64_t seen = state_.load(std::memory_order_relaxed);
        for (;;) {
            const Address object = roundUp(base + positionOf(seen) + headerBytes, align);
            const std::size_t end = object - base + roundUp(size, minAlignment);
            if (end > capacity) {
                return nullptr;
            }
            if (state_.compare_exchange_weak(seen, pack(end, liveOf(seen) + 1),
                                             std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
                ::new (pointerTo(object - headerBytes)) std::size_t(roundUp(size, minAlignment));
                return pointerTo(object);
            }
        }
    }

    [[gnu::cold, gnu::noinline]] void free(void* /*object*/) noexcept {
        std::uint64_t seen = state_.load(std::memory_order_relaxed);
        std::uint64_t next = 0;
        do {
            const std::uint64_t live = liveOf(seen) - 1;
            next = live == 0 ? 0 : pack(positionOf(seen), live);
        } while (!state_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                               std::memory_order_relaxed));
    }

    [[nodiscard]] static std::size_t getSize(void* object) noexcept {
        return *static_cast<std::size_t*>(backward(object, headerBytes));
    }

    /// How many objects are live.
    [[nodiscard]] std::size_t live() const noexcept {
        return liveOf(state_.load(std::memory_order_relaxed));
    }

private:
    static constexpr std::size_t headerBytes = 16;
    /// No object is at the top of the address space, so `owns` needs no further question.
    static constexpr Address nowhere = ~Address{0} - capacity + 1;

    static constexpr std::uint64_t pack(std::size_t position, std::uint64_t live) noexcept {
        return (std::uint64_t{position} << 32U) | live;
    }
    static constexpr std::size_t positionOf(std::uint64_t state) noexcept { return state >> 32U; }
    static constexpr std::uint64_t liveOf(std::uint64_t state) noexcept {
        return state & 0xFFFFFFFFU;
    }

    /// The arena's first address, reserved by whoever comes first.
    Address mapped() noexcept {
        Address base = base_.load(std::memory_order_acquire);
        if (base != nowhere) {
            return base;
        }
        void* const pages = platform::reservePages(capacity);
        if (pages == nullptr) {
            return nowhere;
        }
        if (base_.compare_exchange_strong(base, addressOf(pages), std::memory_order_acq_rel)) {
            return addressOf(pages);
        }
        platform::unmapPages(pages, capacity);
        return base;
    }

    std::atomic<Address> base_{nowhere};
    std::atomic<std::uint64_t> state_{0}; ///< position << 32 | live
};

} // namespace heapwright
