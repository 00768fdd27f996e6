// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The tag: one 64-bit word just before an object, with the size of the object's block and its
// state. All layers that keep data with an object keep it here, so that they work over every heap
// that writes tags.
//
//   63                                20 19    16 15          0
//   [ size of the block, multiple of 16 ][ flags ][   state    ]
//
// Invariant: the block is the tag and the object's bytes, so its size is the capacity plus 8. The
// state is one of a few 16-bit numbers that differ from text and from small integers. So one
// compare recognises a pointer that is no object. `live` has all the bits of `free` and some more,
// so that one OR makes an object live. The word is always stored as a whole, so that a following
// load is forwarded from the store buffer.
//
// The owner of an object may read its size and state without the heap's lock. Meanwhile another
// thread with the lock may change a flag because the previous block is freed. This is safe on the
// supported processors. All changes are made under the lock. A load or store of an aligned word is
// one instruction, so each value has the right size and state. A declared atomic would cost the
// fast paths of all heaps 3 to 10 %, because no compiler folds it into a compare. ThreadSanitizer
// is configured to accept it.
// Source: the boundary tags of Knuth (TAOCP 1, 2.5), packed as in Doug Lea's allocator.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/build.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heapwright {

/// The state of an object, in its tag.
enum class State : std::uint16_t {
    live = 0xB7E5,      ///< in use by the program
    free = 0x93C5,      ///< freed; also in the remains of a block that was merged
    displaced = 0xD92B, ///< in use, inside a larger object: the size is the distance to that
    fence = 0x8E97,     ///< no object: the end of a span
};

/// Flags of a block about its neighbours and its origin.
enum class Flag : std::uint64_t {
    none = 0,
    prevFree = 1U << 16, ///< the previous block is free, and the word before this tag is its size
    binned = 1U << 17,   ///< this block is free and in the merging heap
    direct = 1U << 18,   ///< this block has a mapping of its own
};

class Tag {
public:
    /// The bytes of a tag before its object.
    static constexpr std::size_t bytes = sizeof(std::uint64_t);

    constexpr Tag(std::size_t blockSize, State state, Flag flags = Flag::none) noexcept
        : word_((std::uint64_t{blockSize} << sizeShift) | static_cast<std::uint64_t>(flags) |
                static_cast<std::uint64_t>(state)) {}

    /// The tag of an object.
    /// Pre: `object` is 8-aligned and has a readable word before it.
    [[nodiscard]] static Tag& of(void* object) noexcept {
        return *static_cast<Tag*>(backward(object, bytes));
    }

    [[nodiscard]] constexpr bool is(State state) const noexcept {
        return static_cast<std::uint16_t>(word()) == static_cast<std::uint16_t>(state);
    }
    [[nodiscard]] constexpr bool has(Flag flag) const noexcept {
        return (word() & static_cast<std::uint64_t>(flag)) != 0;
    }
    [[nodiscard]] constexpr Flag flags() const noexcept { return Flag{word() & flagMask}; }
    [[nodiscard]] constexpr State state() const noexcept {
        return State{static_cast<std::uint16_t>(word())};
    }

    /// The size of the block, tag included.
    [[nodiscard]] constexpr std::size_t size() const noexcept {
        return (word() >> sizeShift) & ~std::size_t{minAlignment - 1};
    }
    /// As `size`, one instruction less.
    /// Pre: the heap sets no flags.
    [[nodiscard]] constexpr std::size_t plainSize() const noexcept { return word() >> sizeShift; }

    /// free or live → live.
    constexpr void makeLive() noexcept { word_ |= static_cast<std::uint64_t>(State::live); }
    /// live → free.
    constexpr void makeFree() noexcept {
        word_ ^= static_cast<std::uint64_t>(State::live) ^ static_cast<std::uint64_t>(State::free);
    }
    constexpr void set(Flag flag) noexcept { become(word() | static_cast<std::uint64_t>(flag)); }
    constexpr void reset(Flag flag) noexcept { become(word() & ~static_cast<std::uint64_t>(flag)); }

private:
    static constexpr unsigned sizeShift = 16;
    static constexpr std::uint64_t flagMask = 0xF0000;

    [[nodiscard]] constexpr std::uint64_t word() const noexcept {
        if (!platform::watchesThreads || std::is_constant_evaluated()) {
            return word_;
        }
        return __atomic_load_n(&word_, __ATOMIC_RELAXED);
    }
    constexpr void become(std::uint64_t word) noexcept {
        if (!platform::watchesThreads || std::is_constant_evaluated()) {
            word_ = word;
        } else {
            __atomic_store_n(&word_, word, __ATOMIC_RELAXED);
        }
    }

    std::uint64_t word_;
};

static_assert(sizeof(Tag) == Tag::bytes);
static_assert((static_cast<unsigned>(State::live) & static_cast<unsigned>(State::free)) ==
              static_cast<unsigned>(State::free));

/// A tagged heap has a `Tag` before each object.
template <class H>
concept TaggedHeap = SizedHeap<H> && MaxAlignedHeap<H> && TagPreservingHeap<H>;

/// A heap that writes the tag of each object, as live, states this as `writes`, and which of its
/// objects have `Flag::direct`. Other tagged heaps keep the tags of the heap below.
enum class Tags { plain, someDirect, allDirect };

template <class H>
concept TaggingHeap = TaggedHeap<H> && std::same_as<decltype(H::writes), const Tags>;

/// A layer that states whether it ends the program on a wrong object, regardless of the heaps
/// below.
template <class H>
concept StatesChecked = requires { H::checked; };

namespace detail {

template <class H>
consteval Tags tagsOf();
template <class H>
consteval bool isChecked();

inline consteval Tags tagsOfAll(Heaps<>) {
    return Tags::plain;
}
template <class First, class... Rest>
consteval Tags tagsOfAll(Heaps<First, Rest...>) {
    return ((tagsOf<First>() == tagsOf<Rest>()) && ...) ? tagsOf<First>() : Tags::someDirect;
}
template <class... B>
consteval bool anyChecked(Heaps<B...>) {
    return (isChecked<B>() || ...);
}

template <class H>
consteval Tags tagsOf() {
    if constexpr (TaggingHeap<H>) {
        return H::writes;
    } else {
        return tagsOfAll(typename H::Below{});
    }
}

template <class H>
consteval bool isChecked() {
    if constexpr (StatesChecked<H>) {
        return H::checked;
    } else if constexpr (TaggingHeap<H>) {
        return false;
    } else {
        return anyChecked(typename H::Below{});
    }
}

} // namespace detail

/// A direct heap marks all its objects with `Flag::direct`.
template <class H>
concept DirectHeap = TaggedHeap<H> && detail::tagsOf<H>() == Tags::allDirect;

/// An indirect heap marks none.
template <class H>
concept IndirectHeap = TaggedHeap<H> && detail::tagsOf<H>() == Tags::plain;

/// An unchecked heap accepts an object whose tag says that it is free: no layer in it checks.
template <class H>
concept UncheckedHeap = TaggedHeap<H> && !detail::isChecked<H>();

} // namespace heapwright
