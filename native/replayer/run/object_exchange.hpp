// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes objects from one thread to another. Only here do threads of an unordered replay wait.
//
// A slot is reused. Each use has one giver and one taker. The generation names the use that is due,
// so a thread that is far ahead waits for its own use. A slot is one word:
//
//     bit 63      a thread sleeps on the slot
//     bit 62      an object is present
//     bits 48-61  the generation that is due
//     bits 0-47   the address of the object
//
// Sleepers wait on the upper half. Every give sets bit 62 there and every take ends a generation,
// so no sleeper misses a change.
#pragma once

#include "futex.hpp"

#include "replayer/plan.hpp"

#include <heapwright/platform/ticks.hpp>

#include <atomic>
#include <bit>
#include <cstdint>

namespace heapwright::replayer {

/// The number of waits of a thread and their total duration.
struct Waits {
    std::uint64_t count = 0;
    std::uint64_t ticks = 0;
};

class ObjectExchange {
public:
    using Slot = std::atomic<std::uint64_t>;

    /// Zeroed slots.
    explicit ObjectExchange(Slot* slots) : slots_(slots) {}

    void give(SlotUse use, void* object, Waits& waits) {
        Slot& slot = slots_[use.slot];
        const std::uint64_t due = std::uint64_t{use.generation} << generationAt;
        if ((slot.load(std::memory_order_acquire) & ~sleepers) != due) [[unlikely]] {
            wait(slot, waits, [due](std::uint64_t word) { return word == due; });
        }
        put(slot, due | there | (reinterpret_cast<std::uintptr_t>(object) & addressBits));
    }

    void* take(SlotUse use, Waits& waits) {
        Slot& slot = slots_[use.slot];
        const std::uint64_t due = std::uint64_t{use.generation} << generationAt | there;
        const auto isThere = [due](std::uint64_t word) { return (word & ~addressBits) == due; };
        std::uint64_t word = slot.load(std::memory_order_acquire) & ~sleepers;
        if (!isThere(word)) [[unlikely]] {
            word = wait(slot, waits, isThere);
        }
        put(slot, (std::uint64_t{use.generation} + 1) % generations << generationAt);
        return reinterpret_cast<void*>(word & addressBits); // NOLINT
    }

private:
    static constexpr unsigned generationAt = 48;
    static constexpr std::uint64_t sleepers = std::uint64_t{1} << 63U;
    static constexpr std::uint64_t addressBits = (std::uint64_t{1} << generationAt) - 1;
    static constexpr std::uint64_t there = std::uint64_t{1} << 62U;

    /// The half with the sleepers' bit, which every change clears.
    static const void* upperHalf(const Slot& slot) {
        const auto* const bytes = reinterpret_cast<const char*>(&slot);
        return bytes + (std::endian::native == std::endian::little ? 4 : 0);
    }

    static void put(Slot& slot, std::uint64_t word) {
        if ((slot.exchange(word, std::memory_order_acq_rel) & sleepers) != 0) [[unlikely]] {
            wakeAll(upperHalf(slot));
        }
    }

    template <class Condition>
    [[gnu::noinline]] static std::uint64_t wait(Slot& slot, Waits& waits, Condition holds) {
        const std::uint64_t began = platform::ticks();
        ++waits.count;
        for (int spin = 0;; ++spin) {
            std::uint64_t word = slot.load(std::memory_order_acquire);
            if (holds(word & ~sleepers)) {
                waits.ticks += platform::ticks() - began;
                return word & ~sleepers;
            }
            if (spin < spins) {
                pauseProcessor();
            } else if ((word & sleepers) != 0 ||
                       slot.compare_exchange_strong(word, word | sleepers)) {
                sleepWhile(upperHalf(slot), static_cast<std::uint32_t>((word | sleepers) >> 32U));
            }
        }
    }

    Slot* slots_;
};

} // namespace heapwright::replayer
