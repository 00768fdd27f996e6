// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A map of disjoint address ranges, apart from the memory that it describes: the live objects,
// their sizes, and a `Value` of its owner.
//
// The entries lie in slabs of pages from the system, which grow geometrically and are returned on
// `clear`. There is no recursion.
// Invariant: the ranges are disjoint and not empty (an empty one counts as one byte).
// Cost: O(log n) to find, add and remove; 32 bytes and a value for each entry.
// Source: treaps (Aragon and Seidel, 1989), with a hash of the address in place of a random number.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/pages.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright {

template <class Value>
class AddressMap {
public:
    struct Entry {
        Address start;
        std::size_t size;
        Entry* left;
        Entry* right;
        Value value;

        /// The end of the range.
        /// Pre: the range ends below the end of the address space.
        [[nodiscard]] Address end() const noexcept { return start + (size == 0 ? 1 : size); }
    };

    constexpr AddressMap() noexcept = default;
    AddressMap(const AddressMap&) = delete;
    AddressMap& operator=(const AddressMap&) = delete;
    ~AddressMap() { clear(); }

    /// An entry for `insert`; null if the system has no memory.
    [[nodiscard]] Entry* reserve() noexcept {
        if (spare_ == nullptr && !grow()) {
            return nullptr;
        }
        Entry* const entry = spare_;
        spare_ = entry->right;
        return entry;
    }

    /// Frees an entry that is not in the tree.
    void release(Entry* entry) noexcept {
        entry->right = spare_;
        spare_ = entry;
    }

    /// Adds an entry to the tree.
    /// Pre: its range overlaps no other.
    void insert(Entry* entry, Address start, std::size_t size) noexcept {
        entry->start = start;
        entry->size = size;
        Entry** link = &root_;
        while (*link != nullptr && priority(**link) >= priority(*entry)) {
            link = start < (*link)->start ? &(*link)->left : &(*link)->right;
        }
        Entry* rest = *link;
        *link = entry;
        Entry** less = &entry->left;
        Entry** more = &entry->right;
        while (rest != nullptr) { // splits the subtree at the new address
            Entry**& side = rest->start < start ? less : more;
            *side = rest;
            side = rest->start < start ? &rest->right : &rest->left;
            rest = *side;
        }
        *less = *more = nullptr;
        ++count_;
    }

    /// Removes an entry from the tree.
    /// Pre: it is in the tree.
    void remove(Entry* entry) noexcept {
        Entry** link = &root_;
        while (*link != entry) {
            link = entry->start < (*link)->start ? &(*link)->left : &(*link)->right;
        }
        Entry* less = entry->left;
        Entry* more = entry->right;
        while (less != nullptr && more != nullptr) {
            const bool lower = priority(*less) >= priority(*more);
            Entry*& upper = lower ? less : more;
            *link = upper;
            link = lower ? &upper->right : &upper->left;
            upper = *link;
        }
        *link = less != nullptr ? less : more;
        --count_;
    }

    /// The entry whose range starts at an address, or null.
    [[nodiscard]] Entry* find(Address start) const noexcept {
        Entry* entry = root_;
        while (entry != nullptr && entry->start != start) {
            entry = start < entry->start ? entry->left : entry->right;
        }
        return entry;
    }

    /// An entry that shares a byte with a range, or null.
    /// Pre: the range does not wrap around.
    [[nodiscard]] Entry* overlapping(Address start, std::size_t size) const noexcept {
        const Address last = start + (size == 0 ? 0 : size - 1);
        Entry* before = nullptr; // the last entry that starts in the range or before it
        for (Entry* entry = root_; entry != nullptr;) {
            const bool right = entry->start <= last;
            before = right ? entry : before;
            entry = right ? entry->right : entry->left;
        }
        return before != nullptr && before->end() > start ? before : nullptr;
    }

    /// The first entry that starts at an address or after it, or null. For walks in order.
    [[nodiscard]] Entry* atOrAfter(Address start) const noexcept {
        Entry* found = nullptr;
        for (Entry* entry = root_; entry != nullptr;) {
            const bool left = entry->start >= start;
            found = left ? entry : found;
            entry = left ? entry->left : entry->right;
        }
        return found;
    }

    /// How many entries are in the tree.
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    /// Removes all entries, in the tree or not, and returns the pages.
    void clear() noexcept {
        root_ = spare_ = nullptr;
        count_ = 0;
        while (slabs_ != nullptr) {
            Slab* const slab = slabs_;
            slabs_ = slab->next;
            platform::unmapPages(slab, slab->bytes);
        }
    }

private:
    struct Slab {
        Slab* next;
        std::size_t bytes;
    };

    static constexpr std::size_t smallestSlab = 64 * KiB;
    static constexpr std::size_t largestSlab = 4 * MiB;
    static_assert(alignof(Entry) <= sizeof(Slab) && sizeof(Slab) % alignof(Entry) == 0);

    /// A hash of the address (Fibonacci hashing, Knuth, TAOCP 3, 6.4).
    static std::uint64_t priority(const Entry& entry) noexcept {
        const std::uint64_t mixed = entry.start * 0x9E3779B97F4A7C15U;
        return (mixed ^ (mixed >> 29U)) * 0xBF58476D1CE4E5B9U;
    }

    bool grow() noexcept {
        const std::size_t twice = slabs_ == nullptr ? smallestSlab : 2 * slabs_->bytes;
        const std::size_t bytes = twice < largestSlab ? twice : largestSlab;
        void* const pages = platform::mapPages(bytes);
        if (pages == nullptr) {
            return false;
        }
        slabs_ = ::new (pages) Slab{slabs_, bytes};
        void* place = forward(pages, sizeof(Slab));
        for (std::size_t left = (bytes - sizeof(Slab)) / sizeof(Entry); left != 0; --left) {
            release(::new (place) Entry{});
            place = forward(place, sizeof(Entry));
        }
        return true;
    }

    Entry* root_ = nullptr;
    Entry* spare_ = nullptr; ///< entries outside the tree, linked by `right`
    Slab* slabs_ = nullptr;  ///< the newest and largest first
    std::size_t count_ = 0;
};

} // namespace heapwright
