// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which addresses are those of live objects, and which were: two bits for each `Granule` bytes of
// the address space, apart from all objects, so that nothing a program writes beyond one changes
// what is known.
//
// The bits stand in leaves of 64 KiB, one for each `leafSpan` bytes of addresses, found by way of a
// root, which is part of this, and of middles as large. Leaves and middles are reserved when the
// first object there is entered, so under a limit of addresses they take hardly more than memory:
// 1/64 of the objects' where the granule is 16. (Leaves that span more are missed at a limit: then
// all the room is taken, and none is left for the leaf of what has just come.) Entering and leaving
// is one atomic instruction behind three loads, and needs no lock: threads and signal handlers may
// be inside at once. Who frees an object sees that it was entered, since whoever gave it to him saw
// it too.
// Invariant: objects start at multiples of the granule, no two at the same.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright {

/// What is known of an address.
enum class Life : std::uint8_t { none = 0, live = 1, freed = 2 };

template <std::size_t Granule>
class LifeBits {
public:
    /// 4 MiB for granules of 16 bytes.
    static constexpr std::size_t leafSpan = Granule * 256 * KiB;

    constexpr LifeBits() noexcept = default;
    LifeBits(const LifeBits&) = delete;
    LifeBits& operator=(const LifeBits&) = delete;
    ~LifeBits() { clear(); }

    /// What an address was before a live object starts there; `live` says that one did already,
    /// and that nothing has changed. Pre: it has bits (`ensure`).
    Life enter(const void* object) noexcept {
        Word* const word = find(addressOf(object));
        if (word == nullptr) [[unlikely]] {
            return Life::none; // all that starts there is taken for live
        }
        const unsigned shift = shiftFor(addressOf(object));
        const Life before = pairIn(word->load(std::memory_order_relaxed), shift);
        if (before != Life::live) [[likely]] {
            // From none one up, from freed one down; nobody else changes these two bits now.
            const std::uint64_t one = std::uint64_t{1} << shift;
            word->fetchAdd(before == Life::none ? one : 0 - one, std::memory_order_relaxed);
        }
        return before;
    }

    /// A live object is freed. Else says what it is, and has changed its bits: for who ends the
    /// program then.
    [[gnu::always_inline]] Life leave(const void* object) noexcept {
        Word* const word = find(addressOf(object));
        if (word == nullptr) [[unlikely]] {
            return withoutBits(addressOf(object));
        }
        const unsigned shift = shiftFor(addressOf(object));
        return pairIn(word->fetchAdd(std::uint64_t{1} << shift, std::memory_order_relaxed), shift);
    }

    [[nodiscard]] Life at(const void* object) const noexcept {
        const Word* const word = find(addressOf(object));
        return word == nullptr
                   ? withoutBits(addressOf(object))
                   : pairIn(word->load(std::memory_order_relaxed), shiftFor(addressOf(object)));
    }

    /// Sees to it that an address has bits; false if there is no memory for them.
    [[nodiscard, gnu::always_inline]] bool ensure(const void* object) noexcept {
        return find(addressOf(object)) != nullptr || made(addressOf(object));
    }

    /// For an object that stands where there is no memory for bits: from now on all addresses of
    /// its leaf are taken for live, or of its middle if there is none.
    void passAllNear(const void* object) noexcept {
        const Address address = addressOf(object);
        Middle* const middle = filled(root_[address / middleSpan], passing<Middle>());
        if (isThere(middle)) {
            filled(leafIn(*middle, address), passing<Leaf>());
        }
    }

    /// Runs `visit` on where each live object starts. Nobody else may be inside.
    template <class Visit>
    void forEachLive(Visit visit) const noexcept {
        forEachLeaf([&visit](const Leaf& leaf, Address start) {
            for (std::size_t at = 0; at < wordCount; ++at) {
                visitWord(leaf.words[at].load(std::memory_order_relaxed),
                          start + at * perWord * Granule, visit);
            }
        });
    }

    /// Forgets everything. Nobody else may be inside.
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
    /// All zero bytes is one of which nothing is known.
    struct Leaf {
        Word words[wordCount];
    };
    struct Middle {
        SharedWord<Leaf*> leaves[perMiddle];
    };

    static unsigned shiftFor(Address address) noexcept {
        return 2 * static_cast<unsigned>(address / Granule % perWord);
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

    /// What stands for a leaf, or a middle, where all is taken for live.
    template <class T>
    static T* passing() noexcept {
        return static_cast<T*>(pointerTo(1));
    }
    static bool isThere(const void* part) noexcept { return addressOf(part) > 1; }

    [[nodiscard]] static SharedWord<Leaf*>& leafIn(Middle& middle, Address address) noexcept {
        return middle.leaves[address / leafSpan % perMiddle];
    }

    /// Puts `fresh` where there is nothing; what is there now.
    template <class T>
    static T* filled(SharedWord<T*>& place, T* fresh) noexcept {
        T* there = nullptr;
        return place.compareExchange(there, fresh, std::memory_order_acq_rel,
                                     std::memory_order_acquire)
                   ? fresh
                   : there;
    }

    /// Runs `use` on each leaf and the first of its addresses.
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
        if (address >= end) {
            return Life::none;
        }
        Middle* const middle = root_[address / middleSpan].load(std::memory_order_acquire);
        const bool passes =
            middle == passing<Middle>() ||
            (isThere(middle) &&
             leafIn(*middle, address).load(std::memory_order_acquire) == passing<Leaf>());
        return passes ? Life::live : Life::none;
    }

    /// The word for an address; null if it has none.
    [[nodiscard, gnu::always_inline]] Word* find(Address address) const noexcept {
        if (address >= end) [[unlikely]] {
            return nullptr;
        }
        Middle* const middle = root_[address / middleSpan].load(std::memory_order_acquire);
        if (!isThere(middle)) [[unlikely]] {
            return nullptr;
        }
        Leaf* const leaf = leafIn(*middle, address).load(std::memory_order_acquire);
        return !isThere(leaf) ? nullptr : &leaf->words[address / Granule / perWord % wordCount];
    }

    [[gnu::cold, gnu::noinline]] bool made(Address address) noexcept {
        if (address >= end) {
            return false;
        }
        Middle* const middle = entered(root_[address / middleSpan]);
        return middle == passing<Middle>() ||
               (middle != nullptr && entered(leafIn(*middle, address)) != nullptr);
    }

    /// What is there, or else a new one, all zero; null if there is no memory.
    template <class T>
    static T* entered(SharedWord<T*>& place) noexcept {
        static_assert(sizeof(T) % (64 * KiB) == 0, "whole pages, however large they are");
        if (T* const there = place.load(std::memory_order_acquire)) {
            return there;
        }
        void* const pages = platform::reservePages(sizeof(T));
        if (pages == nullptr) {
            return nullptr;
        }
        // Zero bytes are what its constructor would make.
        T* const now = filled(place, static_cast<T*>(pages));
        if (now != pages) {
            platform::unmapPages(pages, sizeof(T));
        }
        return now;
    }

    SharedWord<Middle*> root_[end / middleSpan];
};

} // namespace heapwright
