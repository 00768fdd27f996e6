// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts of the calls of a heap: calls and failures of each verb, present and peak live objects,
// and request sizes. It contains only numbers, allocates nothing and can be copied.
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
        std::uint64_t failures = 0; ///< the part of `calls` with the result null or false
    };

    std::array<Count, verbCount> verbs = {};
    /// The number of requests for memory from 2^k bytes to below 2^(k + 1). A request of zero bytes
    /// counts as one byte.
    std::array<std::uint64_t, 64> sizes = {};
    std::uint64_t bytesRequested = 0; ///< sum of the sizes of successful requests
    std::size_t liveObjects = 0;
    std::size_t liveBytes = 0; ///< sum of their usable sizes
    std::size_t peakObjects = 0;
    std::size_t peakBytes = 0;

    [[nodiscard]] constexpr const Count& of(Verb verb) const noexcept {
        return verbs[indexOf(verb)];
    }

    /// Counts a call of a verb and whether it succeeded.
    constexpr void count(Verb verb, bool answered) noexcept {
        ++verbs[indexOf(verb)].calls;
        verbs[indexOf(verb)].failures += answered ? 0U : 1U;
    }

    /// Counts the size of a request.
    constexpr void countRequest(std::size_t size, bool answered) noexcept {
        ++sizes[floorLog2(size | 1U)];
        bytesRequested += answered ? size : 0U;
    }

    /// Counts a new live object.
    constexpr void add(std::size_t bytes) noexcept {
        liveObjects += 1;
        peakObjects = peakObjects < liveObjects ? liveObjects : peakObjects;
        grow(bytes);
    }

    /// Counts the growth of a live object. To shrink, `bytes` wraps around.
    constexpr void grow(std::size_t bytes) noexcept {
        liveBytes += bytes;
        peakBytes = peakBytes < liveBytes ? liveBytes : peakBytes;
    }

    /// Counts the end of a live object.
    constexpr void remove(std::size_t bytes) noexcept {
        liveObjects -= 1;
        liveBytes -= bytes;
    }

    /// The figures as lines of text, at most about 4 KiB. Zero figures are omitted.
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
