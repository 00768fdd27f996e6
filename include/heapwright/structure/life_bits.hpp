// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which addresses are those of live objects, and which were: two bits for each `Granule` bytes of
// the address space, apart from all objects, so that nothing a program writes beyond one changes
// what is known.
//
// The bits stand in leaves, one for each `leafSpan` bytes of addresses, found through a table; both
// are reserved when the first object there is entered, and only the pages of them that are touched
// take memory: 1/64 of the objects' where the granule is 16. Entering and leaving is one atomic
// instruction, and needs no lock: threads and signal handlers may be inside at once. Who frees an
// object sees that it was entered, since whoever gave it to him saw it too.
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
    static constexpr std::size_t leafSpan = 512 * MiB;

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
    /// its leaf are taken for live. Pre: some object has been entered before.
    void passAllNear(const void* object) noexcept {
        Leaf* none = nullptr;
        leafOf(addressOf(object))
            .compareExchange(none, passing(), std::memory_order_acq_rel, std::memory_order_acquire);
    }

    /// Runs `visit` on where each live object starts. Nobody else may be inside.
    template <class Visit>
    void forEachLive(Visit visit) const noexcept {
        const Table* const table = table_.load(std::memory_order_acquire);
        for (Address leaf = 0; table != nullptr && leaf < end / leafSpan; ++leaf) {
            const Leaf* const there = table->leaves[leaf].load(std::memory_order_relaxed);
            for (std::size_t at = 0; isLeaf(there) && at < wordCount; ++at) {
                visitWord(there->words[at].load(std::memory_order_relaxed),
                          leaf * leafSpan + at * perWord * Granule, visit);
            }
        }
    }

    /// Forgets everything. Nobody else may be inside.
    void clear() noexcept {
        Table* const table = table_.load(std::memory_order_relaxed);
        if (table == nullptr) {
            return;
        }
        for (SharedWord<Leaf*>& leaf : table->leaves) {
            Leaf* const there = leaf.load(std::memory_order_relaxed);
            if (isLeaf(there)) {
                platform::unmapPages(there, sizeof(Leaf));
            }
        }
        platform::unmapPages(table, sizeof(Table));
        table_.store(nullptr, std::memory_order_relaxed);
    }

private:
    static constexpr Address end = Address{1} << 47U;
    static constexpr std::size_t perWord = 32;
    static constexpr std::size_t wordCount = leafSpan / Granule / perWord;

    static_assert(std::has_single_bit(Granule) && wordCount >= 1);

    using Word = SharedWord<std::uint64_t>;
    /// All zero bytes is one of which nothing is known.
    struct Leaf {
        Word words[wordCount];
    };
    struct Table {
        SharedWord<Leaf*> leaves[end / leafSpan];
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

    /// What stands for a leaf where all is taken for live.
    static Leaf* passing() noexcept { return static_cast<Leaf*>(pointerTo(1)); }
    static bool isLeaf(const Leaf* leaf) noexcept { return addressOf(leaf) > 1; }

    /// Pre: there is a table, and the address lies below the end.
    [[nodiscard]] SharedWord<Leaf*>& leafOf(Address address) const noexcept {
        return table_.load(std::memory_order_acquire)->leaves[address / leafSpan];
    }

    [[nodiscard, gnu::cold, gnu::noinline]] Life withoutBits(Address address) const noexcept {
        const bool passes = address < end && table_.load(std::memory_order_acquire) != nullptr &&
                            leafOf(address).load(std::memory_order_acquire) == passing();
        return passes ? Life::live : Life::none;
    }

    /// The word for an address; null if it has none.
    [[nodiscard, gnu::always_inline]] Word* find(Address address) const noexcept {
        Table* const table = table_.load(std::memory_order_acquire);
        if (table == nullptr || address >= end) [[unlikely]] {
            return nullptr;
        }
        Leaf* const leaf = table->leaves[address / leafSpan].load(std::memory_order_acquire);
        return !isLeaf(leaf) ? nullptr : &leaf->words[address / Granule / perWord % wordCount];
    }

    [[gnu::cold, gnu::noinline]] bool made(Address address) noexcept {
        Table* const table = entered(table_);
        return address < end && table != nullptr &&
               entered(table->leaves[address / leafSpan]) != nullptr;
    }

    /// What is there, or else a new one, all zero; null if there is no memory.
    template <class T>
    static T* entered(SharedWord<T*>& place) noexcept {
        T* there = place.load(std::memory_order_acquire);
        if (there != nullptr) {
            return there;
        }
        void* const pages = platform::reservePages(roundUp(sizeof(T), platform::pageSize()));
        if (pages == nullptr) {
            return nullptr;
        }
        auto* const fresh =
            static_cast<T*>(pages); // zero bytes are what its constructor would make
        if (place.compareExchange(there, fresh, std::memory_order_acq_rel,
                                  std::memory_order_acquire)) {
            return fresh;
        }
        platform::unmapPages(pages, roundUp(sizeof(T), platform::pageSize()));
        return there;
    }

    SharedWord<Table*> table_;
};

} // namespace heapwright
