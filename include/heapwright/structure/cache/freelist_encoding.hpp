// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How the link to the next freed object stands in a freed object that waits in a cache.
//
// `PlainFreelist` has it as it is. `EncodedFreelist` mixes it with two secrets of the process and
// with the address where it stands, so that who can write to a freed object cannot say which memory
// comes next, and who can read it does not learn an address. A link that was written over ends the
// program, instead of being followed:
//
//   heapwright: malloc(): corrupted link
//
// What is decoded is a link only if it is a multiple of 16 below 2^47, or null: of the words that
// may have been written over it one in 2^17 or fewer passes, and none of those that differ in
// their upper 17 bits only.
// `prepare` is called before anything waits for the first time; a cache does so off its fast path.
// Cost of encoding: two multiplications, two loads and two exclusive ors, and to decode a compare
// as well. After the safe linking of glibc 2.32 and the encoded free lists of hardened_malloc and
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

/// A way for links to stand in freed objects: `prepare` before the first; `encode(next, at)` is
/// what is written at an address, `decode(stored, at)` the link that was meant by it. `peek` is
/// `decode` for who cannot be sure that there is one: null instead of an end.
template <class L>
concept FreelistEncoding = requires(ObjectLink* link, const void* at) {
    L::prepare();
    { L::encode(link, at) } -> std::same_as<ObjectLink*>;
    { L::decode(link, at) } -> std::same_as<ObjectLink*>;
    { L::peek(link, at) } -> std::same_as<ObjectLink*>;
};

/// Links as they are.
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

/// Links that only this process can read and write.
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

    /// Aborts if the word is not what `encode` makes of some link at that address.
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
    /// By Newton's iteration, which doubles the number of right bits.
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

    static inline constinit SharedWord<std::uint64_t> plus_{0};  ///< 0 until it is drawn
    static inline constinit SharedWord<std::uint64_t> times_{0}; ///< the same
};

static_assert(FreelistEncoding<PlainFreelist> && FreelistEncoding<EncodedFreelist>);

} // namespace heapwright
