// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Records which addresses are, or were, those of objects: two bits for each `Granule` bytes of the
// address space. The bits lie apart from the objects, so that an overflow cannot change them.
//
// The bits are in leaves of 64 KiB, one for each `leafSpan` bytes of addresses. The path to a leaf
// is a root, which is part of this object, and a middle table of the same size. Leaves and middles
// are mapped when the first object there is entered, so they take 1/64 of the objects' memory with
// a granule of 16. (Larger leaves fail near a limit of addresses, because the objects leave no room
// for them.) `enter` and `leave` are one atomic instruction after three loads and need no lock.
// Several threads and signal handlers may call them at once. A thread that frees an object sees
// that it was entered, because it received the object from the thread that entered it.
// Invariant: objects start at multiples of the granule, no two at the same. The state of any other
// address is `none`.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/opaque.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright {

/// The state of an address. `unknown` is the result of `enter` without memory for the state.
enum class Life : std::uint8_t { none = 0, live = 1, freed = 2, unknown = 4 };

template <std::size_t Granule>
class LifeBits {
public:
    /// 4 MiB for granules of 16 bytes.
    static constexpr std::size_t leafSpan = Granule * 256 * KiB;

    constexpr LifeBits() noexcept = default;
    LifeBits(const LifeBits&) = delete;
    LifeBits& operator=(const LifeBits&) = delete;
    ~LifeBits() { clear(); }

    /// Marks an object as live. Returns the previous state. Nothing has changed if that is `live`
    /// or `unknown`. It is `unknown` if the address has no bits yet (`ensure`), or if all objects
    /// near it count as live.
    /// Pre: the address starts a granule.
    [[gnu::always_inline]] Life enter(const void* object) noexcept {
        Word* const word = find(addressOf(object));
        if (word == nullptr) [[unlikely]] {
            return Life::unknown;
        }
        const unsigned shift = shiftFor(addressOf(object));
        const std::uint64_t pair = word->load(std::memory_order_relaxed) >> shift & 3U;
        const Life before{static_cast<std::uint8_t>(pair)};
        if (before != Life::live) [[likely]] {
            // Adds one to `none`, subtracts one from `freed`. No other thread changes these two
            // bits now.
            word->fetchAddNearHandlers((static_cast<std::uint64_t>(Life::live) - pair) << shift);
        }
        return before;
    }

    /// Marks a live object as freed. If it was not live, returns its state and has changed its
    /// bits; the caller then ends the program.
    [[gnu::always_inline]] Life leave(const void* object) noexcept {
        Word* const word = find(addressOf(object));
        if (word == nullptr) [[unlikely]] {
            return withoutBits(addressOf(object));
        }
        const unsigned shift = shiftFor(addressOf(object));
        return pairIn(word->fetchAddNearHandlers(std::uint64_t{1} << shift), shift);
    }

    [[nodiscard]] Life at(const void* object) const noexcept {
        const Word* const word = find(addressOf(object));
        return word == nullptr
                   ? withoutBits(addressOf(object))
                   : pairIn(word->load(std::memory_order_relaxed), shiftFor(addressOf(object)));
    }

    /// Ensures that an address has bits; false if there is no memory for them.
    /// Pre: the address starts a granule.
    [[nodiscard]] bool ensure(const void* object) noexcept {
        return find(addressOf(object)) != nullptr || made(addressOf(object));
    }

    /// For an object without memory for its bits: all addresses of its leaf, or of its middle,
    /// count as live from now on.
    /// Pre: the address starts a granule.
    void passAllNear(const void* object) noexcept {
        const Address address = addressOf(object);
        Middle* const middle = filled(root_[address / middleSpan], passing<Middle>());
        if (isThere(middle)) {
            filled(leafIn(*middle, address), passing<Leaf>());
        }
    }

    /// Runs `visit` on the address of each live object.
    /// Pre: no other thread uses the map.
    template <class Visit>
    void forEachLive(Visit visit) const noexcept {
        forEachLeaf([&visit](const Leaf& leaf, Address start) {
            for (std::size_t at = 0; at < wordCount; ++at) {
                visitWord(leaf.words[at].load(std::memory_order_relaxed),
                          start + at * perWord * Granule, visit);
            }
        });
    }

    /// Removes all entries.
    /// Pre: no other thread uses the map.
    void clear() noexcept {
        forEachLeaf([](Leaf& leaf, Address) { platform::unmapPages(&leaf, sizeof(Leaf)); });
        for (SharedWord<Middle*>& place : root_) {
            if (Middle* const middle = place.load(std::memory_order_relaxed); isThere(middle)) {
                platform::unmapPages(middle, sizeof(Middle));
            }
            place.store(nullptr, std::memory_order_relaxed);
        }
    }

private:
    static constexpr Address end = Address{1} << 47U;
    static constexpr std::size_t perWord = 32;
    static constexpr std::size_t wordCount = leafSpan / Granule / perWord;
    static constexpr std::size_t perMiddle = 8192;
    static constexpr std::size_t middleSpan = perMiddle * leafSpan;

    static_assert(std::has_single_bit(Granule) && wordCount >= 1 && middleSpan <= end);

    using Word = SharedWord<std::uint64_t>;
    /// A leaf of zero bytes has no entries.
    struct Leaf {
        Word words[wordCount];
    };
    struct Middle {
        SharedWord<Leaf*> leaves[perMiddle];
    };

    /// The number of the granule that starts at an address. An address inside a granule has a
    /// number beyond all others.
    static Address granuleAt(Address address) noexcept {
        return std::rotr(address, std::countr_zero(Granule));
    }
    static unsigned shiftFor(Address address) noexcept {
        return static_cast<unsigned>(2 * granuleAt(address) % (2 * perWord));
    }
    static Life pairIn(std::uint64_t word, unsigned shift) noexcept {
        return static_cast<Life>(word >> shift & 3U);
    }

    template <class Visit>
    static void visitWord(std::uint64_t word, Address start, Visit visit) noexcept {
        for (std::size_t each = 0; word >> (2 * each) != 0; ++each) {
            if (pairIn(word, static_cast<unsigned>(2 * each)) == Life::live) {
                visit(pointerTo(start + each * Granule));
            }
            if (each + 1 == perWord) {
                return;
            }
        }
    }

    /// The placeholder for a leaf or middle whose objects all count as live.
    template <class T>
    static T* passing() noexcept {
        return static_cast<T*>(pointerTo(1));
    }
    static bool isThere(const void* part) noexcept { return addressOf(part) > 1; }

    [[nodiscard]] static SharedWord<Leaf*>& leafIn(Middle& middle, Address address) noexcept {
        return middle.leaves[address / leafSpan % perMiddle];
    }

    /// Stores `fresh` if the place is null. Returns the content of the place.
    template <class T>
    static T* filled(SharedWord<T*>& place, T* fresh) noexcept {
        T* there = nullptr;
        return place.compareExchange(there, fresh, std::memory_order_acq_rel,
                                     std::memory_order_acquire)
                   ? fresh
                   : there;
    }

    /// Runs `use` on each leaf and its first address.
    template <class Use>
    void forEachLeaf(Use use) const noexcept {
        for (Address start = 0; start < end; start += middleSpan) {
            Middle* const middle = root_[start / middleSpan].load(std::memory_order_acquire);
            for (std::size_t at = 0; isThere(middle) && at < perMiddle; ++at) {
                Leaf* const leaf = middle->leaves[at].load(std::memory_order_relaxed);
                if (isThere(leaf)) {
                    use(*leaf, start + at * leafSpan);
                }
            }
        }
    }

    [[nodiscard, gnu::cold, gnu::noinline]] Life withoutBits(Address address) const noexcept {
        if (address >= end || address % Granule != 0) {
            return Life::none;
        }
        Middle* const middle = root_[address / middleSpan].load(std::memory_order_acquire);
        const bool passes =
            middle == passing<Middle>() ||
            (isThere(middle) &&
             leafIn(*middle, address).load(std::memory_order_acquire) == passing<Leaf>());
        return passes ? Life::live : Life::none;
    }

    /// The word for an address; null if it has none, or lies inside a granule.
    [[nodiscard, gnu::always_inline]] Word* find(Address address) const noexcept {
        const Address granule = granuleAt(address);
        const std::size_t top = platform::opaque(granule / (middleSpan / Granule));
        if (top >= end / middleSpan) [[unlikely]] {
            return nullptr;
        }
        Middle* const middle = root_[top].load(std::memory_order_acquire);
        if (!isThere(middle)) [[unlikely]] {
            return nullptr;
        }
        const std::size_t inside = granule / (leafSpan / Granule) % perMiddle;
        Leaf* const leaf = middle->leaves[inside].load(std::memory_order_acquire);
        return !isThere(leaf) ? nullptr : &leaf->words[granule / perWord % wordCount];
    }

    [[gnu::cold, gnu::noinline]] bool made(Address address) noexcept {
        if (address >= end) {
            return false;
        }
        Middle* const middle = entered(root_[address / middleSpan]);
        return middle == passing<Middle>() ||
               (middle != nullptr && entered(leafIn(*middle, address)) != nullptr);
    }

    /// Returns the content of a place, or a new table of zero bytes; null if there is no memory.
    template <class T>
    static T* entered(SharedWord<T*>& place) noexcept {
        static_assert(sizeof(T) % (64 * KiB) == 0, "whole pages of any page size");
        if (T* const there = place.load(std::memory_order_acquire)) {
            return there;
        }
        void* const pages = platform::reservePages(sizeof(T));
        if (pages == nullptr) {
            return nullptr;
        }
        // Its constructor would produce zero bytes, too.
        T* const now = filled(place, static_cast<T*>(pages));
        if (now != pages) {
            platform::unmapPages(pages, sizeof(T));
        }
        return now;
    }

    SharedWord<Middle*> root_[end / middleSpan];
};

} // namespace heapwright
