// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Where objects pass from one thread to another, and the only thing that makes threads wait. A
// place is used again and again, each use by one giver and one taker; the generation says which use
// is due, so that a thread which is far ahead waits for its own. A place is one word:
//
//     bit 63      somebody sleeps on it
//     bit 62      an object is there
//     bits 48-61  the generation that is due
//     bits 0-47   the object's address
//
// Sleepers look at the upper half. Whatever changes there shows in it, for an object that comes
// sets a bit and one that goes ends a generation; so none sleeps through what it waits for.
#pragma once

#include "waiting.hpp"

#include "replayer/plan.hpp"

#include <heapwright/platform/ticks.hpp>

#include <atomic>
#include <bit>
#include <cstdint>

namespace heapwright::replayer {

/// How often and how long a thread had to wait.
struct Waits {
    std::uint64_t count = 0;
    std::uint64_t ticks = 0;
};

class HandOvers {
public:
    using Place = std::atomic<std::uint64_t>;

    /// Zeroed places.
    explicit HandOvers(Place* places) : places_(places) {}

    void give(Hold hold, void* object, Waits& waits) {
        Place& place = places_[hold.place];
        const std::uint64_t due = std::uint64_t{hold.generation} << generationAt;
        if ((place.load(std::memory_order_acquire) & ~sleepers) != due) [[unlikely]] {
            wait(place, waits, [due](std::uint64_t word) { return word == due; });
        }
        put(place, due | there | (reinterpret_cast<std::uintptr_t>(object) & addressBits));
    }

    void* take(Hold hold, Waits& waits) {
        Place& place = places_[hold.place];
        const std::uint64_t due = std::uint64_t{hold.generation} << generationAt | there;
        const auto isThere = [due](std::uint64_t word) { return (word & ~addressBits) == due; };
        std::uint64_t word = place.load(std::memory_order_acquire) & ~sleepers;
        if (!isThere(word)) [[unlikely]] {
            word = wait(place, waits, isThere);
        }
        put(place, (std::uint64_t{hold.generation} + 1) % generations << generationAt);
        return reinterpret_cast<void*>(word & addressBits); // NOLINT
    }

private:
    static constexpr unsigned generationAt = 48;
    static constexpr std::uint64_t sleepers = std::uint64_t{1} << 63U;
    static constexpr std::uint64_t addressBits = (std::uint64_t{1} << generationAt) - 1;
    static constexpr std::uint64_t there = std::uint64_t{1} << 62U;

    /// The half with the sleepers' bit, which every change clears.
    static const void* upperHalf(const Place& place) {
        const auto* const bytes = reinterpret_cast<const char*>(&place);
        return bytes + (std::endian::native == std::endian::little ? 4 : 0);
    }

    static void put(Place& place, std::uint64_t word) {
        if ((place.exchange(word, std::memory_order_acq_rel) & sleepers) != 0) [[unlikely]] {
            wakeAll(upperHalf(place));
        }
    }

    template <class Condition>
    [[gnu::noinline]] static std::uint64_t wait(Place& place, Waits& waits, Condition holds) {
        const std::uint64_t began = platform::ticks();
        ++waits.count;
        for (int look = 0;; ++look) {
            std::uint64_t word = place.load(std::memory_order_acquire);
            if (holds(word & ~sleepers)) {
                waits.ticks += platform::ticks() - began;
                return word & ~sleepers;
            }
            if (look < looks) {
                pauseProcessor();
            } else if ((word & sleepers) != 0 ||
                       place.compare_exchange_strong(word, word | sleepers)) {
                sleepWhile(upperHalf(place), static_cast<std::uint32_t>((word | sleepers) >> 32U));
            }
        }
    }

    Place* places_;
};

} // namespace heapwright::replayer
