// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory for signal handlers that interrupted a heap whose memory is cut into units: `UnitBytes`,
// at multiples of it, and in each in which an object starts the first words are the allocator's. An
// object's unit is that of the byte before it. The arena keeps to that, with a first word of 0, for
// no thread may keep its objects, and a second word that tells them from all others; so nothing has
// to be asked before. Lock-free and async-signal-safe.
//
// Small objects are cut one after the other from the current unit; a unit whose last object goes
// starts again, or waits for its next use if it is not the current one any more. A larger object
// has a mapping of its own. What handlers make and keep has no limit but the system's.
//
// Invariants: a unit's position and the count of its live objects are one word, changed by
// compare-and-swap. A closed unit refuses every cut; who takes it to "closed and empty" puts it
// with the free ones, and nobody else. Units are never unmapped before the arena is, so that a
// thread which still looks at one reads what a unit says. The list of free ones carries a count in
// the low bits of its head, against a unit that went and came back meanwhile.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/pages.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright {

template <std::size_t UnitBytes>
class HandlerArena {
public:
    constexpr HandlerArena() noexcept = default;
    HandlerArena(const HandlerArena&) = delete;
    HandlerArena& operator=(const HandlerArena&) = delete;
    /// Pre: no object is live.
    ~HandlerArena() {
        Unit* unit = all_.load(std::memory_order_relaxed);
        while (unit != nullptr) {
            Unit* const next = unit->older;
            platform::unmapPages(unit, UnitBytes);
            unit = next;
        }
    }

    /// The second word of its units: nobody's address, for it is in no half of the address space.
    static constexpr std::uint64_t kind = 0x8A4D'1E5A'4E4A'0001;

    /// Whether an object in some unit is one of an arena. Pre: it is not null.
    [[nodiscard]] static bool owns(const void* object) noexcept {
        return __atomic_load_n(&unitAt(object)->kindWord, __ATOMIC_RELAXED) == kind;
    }

    /// Null when the system has no memory. Pre: `align` is a power of two.
    [[nodiscard, gnu::cold, gnu::noinline]] void* memalign(std::size_t align,
                                                           std::size_t size) noexcept {
        align = align < minAlignment ? minAlignment : align;
        if (size > largestCut || align > largestCut) {
            return mapped(align, size);
        }
        for (;;) {
            Unit* const unit = current_.load(std::memory_order_acquire);
            if (unit != nullptr) {
                if (void* const object = unit->cut(align, size)) {
                    return object;
                }
            }
            if (!renew(unit)) {
                return nullptr;
            }
        }
    }

    [[gnu::cold, gnu::noinline]] void free(void* object) noexcept {
        Unit* const unit = unitAt(object);
        if (unit->mapping != nullptr) {
            bytes_.fetch_sub(unit->mappingBytes, std::memory_order_relaxed);
            platform::unmapPages(unit->mapping, unit->mappingBytes);
        } else if (unit->release()) {
            putFree(unit);
        }
    }

    [[nodiscard]] static std::size_t getSize(const void* object) noexcept {
        const Unit* const unit = unitAt(object);
        return unit->mapping != nullptr
                   ? addressOf(unit->mapping) + unit->mappingBytes - addressOf(object)
                   : *static_cast<const std::size_t*>(pointerTo(addressOf(object) - headerBytes));
    }

    /// Whether there may be objects of this arena: false as long as no handler has asked for any.
    [[nodiscard]] bool used() const noexcept { return bytes() != 0; }

    /// What it has of the system.
    [[nodiscard]] std::size_t bytes() const noexcept {
        return bytes_.load(std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t headerBytes = 16;
    static constexpr std::size_t unitHeader = 64;
    static constexpr std::size_t largestCut = UnitBytes / 4;
    static constexpr std::size_t closed = 2 * UnitBytes; ///< the position of a closed unit

    struct Unit {
        std::uint64_t home = 0;                            ///< no thread's
        std::uint64_t kindWord = kind;                     ///< here alone
        std::atomic<std::uint64_t> state{pack(closed, 0)}; ///< position << 32 | live
        std::atomic<Unit*> nextFree{nullptr};
        Unit* older = nullptr;   ///< the one that was mapped before it
        void* mapping = nullptr; ///< of a single object
        std::size_t mappingBytes = 0;

        [[nodiscard]] void* cut(std::size_t align, std::size_t size) noexcept {
            const Address base = addressOf(this);
            std::uint64_t seen = state.load(std::memory_order_acquire);
            for (;;) {
                const Address object = roundUp(base + positionOf(seen) + headerBytes, align);
                const std::size_t room = roundUp(size, minAlignment);
                const std::size_t end = object - base + room;
                if (end > UnitBytes) { // of a closed one, too
                    return nullptr;
                }
                if (state.compare_exchange_weak(seen, pack(end, liveOf(seen) + 1),
                                                std::memory_order_acq_rel,
                                                std::memory_order_acquire)) {
                    ::new (pointerTo(object - headerBytes)) std::size_t(room);
                    return pointerTo(object);
                }
            }
        }

        /// One object less; true if that was the last of a closed unit.
        [[nodiscard]] bool release() noexcept {
            std::uint64_t seen = state.load(std::memory_order_relaxed);
            for (;;) {
                const std::uint64_t live = liveOf(seen) - 1;
                const bool isOpen = positionOf(seen) != closed;
                const std::size_t position = live == 0 && isOpen ? unitHeader : positionOf(seen);
                if (state.compare_exchange_weak(seen, pack(position, live),
                                                std::memory_order_acq_rel,
                                                std::memory_order_relaxed)) {
                    return !isOpen && live == 0;
                }
            }
        }

        /// Refuses from now on; true if it is empty already. Pre: it is open, and this is asked
        /// once.
        [[nodiscard]] bool close() noexcept {
            std::uint64_t seen = state.load(std::memory_order_relaxed);
            while (!state.compare_exchange_weak(seen, pack(closed, liveOf(seen)),
                                                std::memory_order_acq_rel,
                                                std::memory_order_relaxed)) {
            }
            return liveOf(seen) == 0;
        }

        void open() noexcept { state.store(pack(unitHeader, 0), std::memory_order_release); }
    };
    static_assert(sizeof(Unit) <= unitHeader);

    static constexpr std::uint64_t pack(std::size_t position, std::uint64_t live) noexcept {
        return (std::uint64_t{position} << 32U) | live;
    }
    static constexpr std::size_t positionOf(std::uint64_t state) noexcept { return state >> 32U; }
    static constexpr std::uint64_t liveOf(std::uint64_t state) noexcept {
        return state & 0xFFFFFFFFU;
    }

    static Unit* unitAt(const void* object) noexcept {
        return static_cast<Unit*>(pointerTo(roundDown(addressOf(object) - 1, UnitBytes)));
    }

    /// Another current unit than `full`, by this thread or by one that was quicker.
    bool renew(Unit* full) noexcept {
        Unit* fresh = takeFree();
        if (fresh == nullptr) {
            void* const pages = platform::mapPagesAt(UnitBytes, UnitBytes, 0);
            if (pages == nullptr) {
                return current_.load(std::memory_order_relaxed) != full;
            }
            bytes_.fetch_add(UnitBytes, std::memory_order_relaxed);
            fresh = ::new (pages) Unit;
            fresh->older = all_.load(std::memory_order_relaxed);
            while (!all_.compare_exchange_weak(fresh->older, fresh, std::memory_order_release,
                                               std::memory_order_relaxed)) {
            }
        }
        fresh->open();
        Unit* retired = fresh;
        if (current_.compare_exchange_strong(full, fresh, std::memory_order_acq_rel)) {
            retired = full;
        }
        if (retired != nullptr && retired->close()) {
            putFree(retired);
        }
        return true;
    }

    void putFree(Unit* unit) noexcept {
        Address head = free_.load(std::memory_order_relaxed);
        do {
            unit->nextFree.store(static_cast<Unit*>(pointerTo(roundDown(head, UnitBytes))),
                                 std::memory_order_relaxed);
        } while (!free_.compare_exchange_weak(head, addressOf(unit) | countAfter(head),
                                              std::memory_order_release,
                                              std::memory_order_relaxed));
    }

    Unit* takeFree() noexcept {
        Address head = free_.load(std::memory_order_acquire);
        for (;;) {
            auto* const unit = static_cast<Unit*>(pointerTo(roundDown(head, UnitBytes)));
            if (unit == nullptr) {
                return nullptr;
            }
            const Address next = addressOf(unit->nextFree.load(std::memory_order_relaxed));
            if (free_.compare_exchange_weak(head, next | countAfter(head),
                                            std::memory_order_acquire, std::memory_order_acquire)) {
                return unit;
            }
        }
    }

    static constexpr Address countAfter(Address head) noexcept {
        return (head + 1) & (UnitBytes - 1);
    }

    /// A mapping for one object, its owner tag in the unit of the byte before it.
    void* mapped(std::size_t align, std::size_t size) noexcept {
        const std::size_t step = align < UnitBytes ? UnitBytes : align;
        if (size > ~std::size_t{0} / 4 || align > ~std::size_t{0} / 4) {
            return nullptr;
        }
        const std::size_t lead = align < UnitBytes ? roundUp(unitHeader, align) : align;
        const std::size_t bytes = roundUp(lead + size, platform::pageSize());
        void* const pages = platform::mapPagesAt(bytes, step, 0);
        if (pages == nullptr) {
            return nullptr;
        }
        void* const object = forward(pages, lead);
        Unit* const unit = ::new (unitAt(object)) Unit;
        unit->mapping = pages;
        unit->mappingBytes = bytes;
        bytes_.fetch_add(bytes, std::memory_order_relaxed);
        return object;
    }

    std::atomic<Unit*> current_{nullptr};
    std::atomic<Unit*> all_{nullptr};
    std::atomic<Address> free_{0}; ///< a unit's address | how often the list has changed
    std::atomic<std::size_t> bytes_{0};
};

} // namespace heapwright
