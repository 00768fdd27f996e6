// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The encoding of the link to the next freed object in a freed object of a cache.
//
// `PlainFreelist` stores the plain address. `EncodedFreelist` mixes the address with two secrets of
// the process and with the link's own address. An attacker that can write to a freed object thus
// cannot choose the next allocation. One that can read it does not learn an address. An overwritten
// link ends the program instead of being followed:
//
//   heapwright: malloc(): corrupted link
//
// A decoded word is accepted as a link only if it is null or a multiple of 16 below 2^47. Of random
// overwritten words at most one in 2^17 is accepted. A word that differs only in its upper 17 bits
// is never accepted. A cache calls `prepare` off its fast path before the first object waits.
// Cost: two multiplications, two loads and two exclusive ors to encode; a compare more to decode.
// Source: the safe linking of glibc 2.32, and the encoded free lists of hardened_malloc and of
// mimalloc's secure mode.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/random.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>

namespace heapwright {

/// An encoding of links in freed objects. `prepare` comes before the first link. `encode(next, at)`
/// is the word to store at an address. `decode(stored, at)` is the link that it stands for. `peek`
/// is `decode` for a word that may be no link: it returns null instead of ending the program.
template <class L>
concept FreelistEncoding = requires(ObjectLink* link, const void* at) {
    L::prepare();
    { L::encode(link, at) } -> std::same_as<ObjectLink*>;
    { L::decode(link, at) } -> std::same_as<ObjectLink*>;
    { L::peek(link, at) } -> std::same_as<ObjectLink*>;
};

/// Links as plain addresses.
struct PlainFreelist {
    static void prepare() noexcept {}
    [[nodiscard, gnu::always_inline]] static ObjectLink* encode(ObjectLink* next,
                                                                const void* /*at*/) noexcept {
        return next;
    }
    [[nodiscard, gnu::always_inline]] static ObjectLink* decode(ObjectLink* stored,
                                                                const void* /*at*/) noexcept {
        return stored;
    }
    [[nodiscard]] static ObjectLink* peek(ObjectLink* stored, const void* /*at*/) noexcept {
        return stored;
    }
};

/// Links that only this process can decode and encode.
class EncodedFreelist {
public:
    static void prepare() noexcept {
        for (SharedWord<std::uint64_t>* const secret : {&plus_, &times_}) {
            if (secret->load(std::memory_order_relaxed) == 0) [[unlikely]] {
                std::uint64_t none = 0;
                secret->compareExchange(none, platform::randomBits() | 1U,
                                        std::memory_order_relaxed, std::memory_order_relaxed);
            }
        }
    }

    /// Pre: `prepare` has been called.
    [[nodiscard, gnu::always_inline]] static ObjectLink* encode(ObjectLink* next,
                                                                const void* at) noexcept {
        const std::uint64_t mixed = (addressOf(next) ^ plus_.load(std::memory_order_relaxed)) * odd;
        return static_cast<ObjectLink*>(pointerTo(mixed ^ maskAt(at)));
    }

    /// Aborts if the word is no result of `encode` at that address.
    [[nodiscard, gnu::always_inline]] static ObjectLink* decode(ObjectLink* stored,
                                                                const void* at) noexcept {
        const std::uint64_t next = plain(stored, at);
        if ((next & never) != 0) [[unlikely]] {
            refuse();
        }
        return static_cast<ObjectLink*>(pointerTo(next));
    }

    [[nodiscard]] static ObjectLink* peek(ObjectLink* stored, const void* at) noexcept {
        const std::uint64_t next = plain(stored, at);
        return (next & never) != 0 ? nullptr : static_cast<ObjectLink*>(pointerTo(next));
    }

private:
    static constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;
    /// Newton's iteration, which doubles the number of right bits in each step.
    static constexpr std::uint64_t inverse = [] {
        std::uint64_t number = odd; // right in its lowest three bits
        for (int step = 0; step < 5; ++step) {
            number *= 2 - odd * number;
        }
        return number;
    }();
    static_assert(odd * inverse == 1);
    /// The bits that no address of an object has.
    static constexpr std::uint64_t never = ~((std::uint64_t{1} << 47U) - minAlignment);

    [[nodiscard, gnu::always_inline]] static std::uint64_t plain(ObjectLink* stored,
                                                                 const void* at) noexcept {
        return ((addressOf(stored) ^ maskAt(at)) * inverse) ^ plus_.load(std::memory_order_relaxed);
    }

    [[nodiscard, gnu::always_inline]] static std::uint64_t maskAt(const void* at) noexcept {
        return addressOf(at) * times_.load(std::memory_order_relaxed);
    }

    [[noreturn, gnu::cold, gnu::noinline]] static void refuse() noexcept {
        platform::abortWithMessage("malloc", "corrupted link");
    }

    static inline constinit SharedWord<std::uint64_t> plus_{0};  ///< 0 until `prepare`
    static inline constinit SharedWord<std::uint64_t> times_{0}; ///< 0 until `prepare`
};

static_assert(FreelistEncoding<PlainFreelist> && FreelistEncoding<EncodedFreelist>);

} // namespace heapwright
