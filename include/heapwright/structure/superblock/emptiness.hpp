// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Emptiness policies: how empty the superblocks of a heap may become before the heap must move one
// to the global heap. All figures are in slots of one size class. `used` of `held` slots are live,
// in superblocks of `each` slots.
//
// `Emptiness<N, D, K>` is Hoard's rule with f = N/D. A heap has at most K superblocks' worth of
// free slots, or at most the fraction f of its slots is free. A superblock that it moves is at
// least f empty. `Never`: a heap keeps all its superblocks. `InParts<N, Rule>`: `Rule`, with N
// groups by fullness instead of 8; the empty and the full superblocks have groups of their own.
// `BySlots`: one of two rules, by the number of slots of a superblock.
//
// Source: Hoard (Berger 2002, 7.2.1). The text of the thesis gives f = 3/4. Its tables have f from
// 1/8 to 1/2, with the other results at 1/4, and its heaps use 3/4 and more. So f is 1/4 here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Numerator, std::size_t Denominator, std::size_t Kept>
struct Emptiness {
    static_assert(Numerator > 0 && Numerator < Denominator,
                  "the empty fraction is between 0 and 1");
    static_assert(Kept >= 1, "a heap needs one superblock for its next request");

    static constexpr bool verified = false;
    static constexpr std::size_t numerator = Numerator;
    static constexpr std::size_t denominator = Denominator;
    static constexpr std::size_t kept = Kept;
    static constexpr std::uint32_t parts = 8;

    /// K for superblocks of `each` slots.
    [[nodiscard]] static constexpr std::size_t keptOf(std::size_t /*each*/) noexcept {
        return Kept;
    }

    /// The least `used` that the rule allows.
    [[nodiscard]] static constexpr std::size_t least(std::size_t held, std::size_t each) noexcept {
        const std::size_t worth = Kept * each;
        if (held <= worth) {
            return 0;
        }
        const std::size_t part = (held * (Denominator - Numerator) + Denominator - 1) / Denominator;
        return part < held - worth ? part : held - worth;
    }

    /// Whether at least the fraction f of a superblock is free.
    [[nodiscard]] static constexpr bool isMostlyEmpty(std::size_t used,
                                                      std::size_t count) noexcept {
        return used * Denominator <= count * (Denominator - Numerator);
    }
};

struct Never {
    static constexpr bool verified = false;
    static constexpr std::size_t denominator = 1;
    static constexpr std::uint32_t parts = 8;

    [[nodiscard]] static constexpr std::size_t least(std::size_t /*held*/,
                                                     std::size_t /*each*/) noexcept {
        return 0;
    }
    [[nodiscard]] static constexpr bool isMostlyEmpty(std::size_t used,
                                                      std::size_t /*count*/) noexcept {
        return used == 0;
    }
};

/// A rule with another number of groups by fullness.
template <std::uint32_t Parts, class Rule>
struct InParts : Rule {
    static_assert(Parts >= 1 && Parts <= 28, "each group has a bit in a word");
    static constexpr std::uint32_t parts = Parts;
};

/// `ManySlots` for superblocks of at least `Slots` slots, and `Few` for the others. The more
/// objects a superblock has, the more a move costs: its objects become old (`CleanLines`).
template <std::size_t Slots, class ManySlots, class Few>
struct BySlots : Few {
    static_assert(ManySlots::numerator == Few::numerator &&
                      ManySlots::denominator == Few::denominator,
                  "only K differs");

    [[nodiscard]] static constexpr std::size_t keptOf(std::size_t each) noexcept {
        return each >= Slots ? ManySlots::kept : Few::kept;
    }
    [[nodiscard]] static constexpr std::size_t least(std::size_t held, std::size_t each) noexcept {
        return each >= Slots ? ManySlots::least(held, each) : Few::least(held, each);
    }
};

/// A rule for heaps that count the acquisitions of their locks and the waits for them.
template <class Rule>
struct Counted : Rule {
    static constexpr bool counted = true;
};

/// A rule that is verified, for tests. After each operation the heap computes the figures again and
/// aborts if the rule or a figure is wrong.
/// Cost: proportional to the heap's size.
template <class Rule>
struct Verified : Rule {
    static constexpr bool verified = true;
};

} // namespace heapwright
