// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a heap was asked for, in figures: calls and failures of each verb, what is live and was at
// most, and how large the requests were. Only numbers: no allocation, and safe to copy.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/observe/fixed_text.hpp>
#include <heapwright/structure/observe/verb.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

struct CallStatistics {
    struct Count {
        std::uint64_t calls = 0;
        std::uint64_t failures = 0; ///< of these, how many were answered with null or false
    };

    std::array<Count, verbCount> verbs = {};
    /// How many requests for memory were for 2^k bytes or more, but for less than 2^(k + 1); one
    /// for nothing counts as one for a byte.
    std::array<std::uint64_t, 64> sizes = {};
    std::uint64_t bytesRequested = 0; ///< the sum of what was asked for and given
    std::size_t liveObjects = 0;
    std::size_t liveBytes = 0; ///< what they may use
    std::size_t peakObjects = 0;
    std::size_t peakBytes = 0;

    [[nodiscard]] constexpr const Count& of(Verb verb) const noexcept {
        return verbs[indexOf(verb)];
    }

    /// A verb was called, and answered with something or with nothing.
    constexpr void count(Verb verb, bool answered) noexcept {
        ++verbs[indexOf(verb)].calls;
        verbs[indexOf(verb)].failures += answered ? 0U : 1U;
    }

    /// A request was for so many bytes.
    constexpr void countRequest(std::size_t size, bool answered) noexcept {
        ++sizes[floorLog2(size | 1U)];
        bytesRequested += answered ? size : 0U;
    }

    /// An object of so many bytes is live from now on.
    constexpr void add(std::size_t bytes) noexcept {
        liveObjects += 1;
        peakObjects = peakObjects < liveObjects ? liveObjects : peakObjects;
        grow(bytes);
    }

    /// A live object has become larger, or smaller by what `bytes` wraps around to.
    constexpr void grow(std::size_t bytes) noexcept {
        liveBytes += bytes;
        peakBytes = peakBytes < liveBytes ? liveBytes : peakBytes;
    }

    /// An object of so many bytes is live no more.
    constexpr void remove(std::size_t bytes) noexcept {
        liveObjects -= 1;
        liveBytes -= bytes;
    }

    /// The figures as lines of text; what has never happened is left out. Up to about 4 KiB.
    template <std::size_t Capacity>
    constexpr void writeTo(FixedText<Capacity>& text) const noexcept {
        const auto pair = [&](std::string_view name, std::uint64_t now, std::uint64_t most) {
            text.put(name).put(' ').putNumber(now).put(", at most ").putNumber(most).put('\n');
        };
        pair("live objects", liveObjects, peakObjects);
        pair("live bytes", liveBytes, peakBytes);
        text.put("bytes requested ").putNumber(bytesRequested).put('\n');
        for (std::size_t i = 0; i < verbCount; ++i) {
            const Count& each = verbs[i];
            if (each.calls != 0) {
                text.put(nameOf(Verb{static_cast<std::uint8_t>(i)})).put(' ');
                text.putNumber(each.calls).put(", without success ").putNumber(each.failures);
                text.put('\n');
            }
        }
        for (std::size_t k = 0; k < sizes.size(); ++k) {
            if (sizes[k] != 0) {
                text.put("requests from ").putNumber(std::uint64_t{1} << k).put(" bytes: ");
                text.putNumber(sizes[k]).put('\n');
            }
        }
    }
};

} // namespace heapwright
