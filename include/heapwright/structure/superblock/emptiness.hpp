// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How empty the superblocks of a heap may become before it has to give one of them away. Figures
// are in slots of one size class: `used` of `held`, in superblocks of `each`.
//
// `Emptiness<N, D, K>` is Hoard's rule with f = N/D: a heap keeps K superblocks' worth of free
// slots, or has at most the part f of its slots free; what it gives away is at least f empty. Of
// Hoard's two figures the text says that f was 3/4, but its tables have f from 1/8 to 1/2 with the
// results of the others at 1/4, and its heaps use 3/4 and more: so it is f = 1/4.
// `Never`: what a heap has it keeps. `InParts<N, Rule>`: as the rule, with superblocks sorted by
// how full they are into N groups instead of 8; the empty and the full are apart in any case. From
// Hoard (Berger 2002, 7.2.1).
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Numerator, std::size_t Denominator, std::size_t Kept>
struct Emptiness {
    static_assert(Numerator > 0 && Numerator < Denominator, "a part of the whole");
    static_assert(Kept >= 1, "without one a heap gives away what it needs next");

    static constexpr bool verified = false;
    static constexpr std::size_t numerator = Numerator;
    static constexpr std::size_t denominator = Denominator;
    static constexpr std::size_t kept = Kept;
    static constexpr std::uint32_t parts = 8;

    /// The least `used` with which a heap has not too much.
    [[nodiscard]] static constexpr std::size_t least(std::size_t held, std::size_t each) noexcept {
        const std::size_t worth = Kept * each;
        if (held <= worth) {
            return 0;
        }
        const std::size_t part = (held * (Denominator - Numerator) + Denominator - 1) / Denominator;
        return part < held - worth ? part : held - worth;
    }

    /// Whether at least f of a superblock is free.
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

/// Another rule, with another number of groups by fullness.
template <std::uint32_t Parts, class Rule>
struct InParts : Rule {
    static_assert(Parts >= 1 && Parts <= 28, "groups have a bit each in a word");
    static constexpr std::uint32_t parts = Parts;
};

/// Another rule, in heaps that count how often their locks are taken and waited for.
template <class Rule>
struct Counted : Rule {
    static constexpr bool counted = true;
};

/// Another rule, looked after: whether it holds, and the figures on which it is decided, is found
/// out anew after each operation, and the program ends if not. At a cost that rises with the heap.
template <class Rule>
struct Verified : Rule {
    static constexpr bool verified = true;
};

} // namespace heapwright
