// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A small number that each live thread has for itself, so that a layer can keep an array with a
// place for each. A thread takes the smallest free one when it first asks, and gives it back when
// it ends, after its last thread_local destructor and in the last round of its keys' destructors.
// What it leaves in a layer's array is inherited by the next thread that gets the number, which
// sees all that the one before has written there; `platform::threadNumber` tells the two apart.
//
// There is none (`noSlot`) for the thread that comes when all are taken, after a thread has given
// its own back, and in a signal handler that interrupts the very claim: who asks must be able to do
// without. A slot whose thread vanished without a word is found again when there is no other.
// Cost: a load and a compare. The claim allocates nothing as long as the process has few thread
// keys (`platform/thread_exit.hpp`); where the C library does allocate in it, that malloc gets
// `noSlot`.
#pragma once

#include <heapwright/platform/build.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/platform/thread_exit.hpp>
#include <heapwright/sync/slot_set.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// How many slots there are.
inline constexpr std::size_t threadSlots = 4096;

namespace detail {

class ThreadSlot {
    /// One more than the slot; 0 until the thread asks.
    using Mine = platform::PerThread<ThreadSlot, std::uint32_t>;
    struct Name {};
    /// Under which name the thread is in the set; 0 if it is not.
    using Tenant = platform::PerThread<Name, std::uint32_t>;

public:
    using Set = SlotSet<threadSlots>;

    [[nodiscard]] static std::uint32_t get() noexcept {
        const std::uint32_t mine = Mine::mine();
        if (mine == 0) [[unlikely]] {
            return claim();
        }
        return mine - 1;
    }

    [[nodiscard]] static std::uint32_t peek() noexcept { return Mine::mine() - 1; }

    /// Gives back what the calling thread has, for good.
    static void giveBack() noexcept {
        const std::uint32_t slot = swapMine(Set::none);
        const std::uint32_t tenant = Tenant::mine();
        Tenant::mine() = 0;
        if (tenant != 0 && slot != Set::none) {
            taken_.release(slot);
        }
    }

    static void keepOnlyMine() noexcept {
        const std::uint32_t before = Tenant::mine();
        if (before != 0) {
            Tenant::mine() = self();
        }
        taken_.keepOnly(before, Tenant::mine());
    }

    /// Claims a slot in the name of somebody else.
    [[nodiscard]] static std::uint32_t claimAs(std::uint32_t tenant) noexcept {
        return taken_.claim(tenant);
    }

private:
    [[gnu::cold, gnu::noinline]] static std::uint32_t claim() noexcept {
        // In one step, for a signal handler may come between any two, and claim.
        const std::uint32_t already = swapMine(Set::none);
        if (already != unasked) {
            swapMine(already);
            return already;
        }
        const std::uint32_t tenant = self();
        Tenant::mine() = tenant;
        std::uint32_t slot = taken_.claim(tenant);
        if (slot == Set::none) {
            slot = taken_.inherit(tenant, isOver);
        }
        if (slot != Set::none && !leavesAtTheEnd()) {
            taken_.release(slot);
            slot = Set::none;
        }
        swapMine(slot);
        return slot;
    }

    static constexpr std::uint32_t unasked = 0U - 1U; ///< as a slot

    static std::uint32_t swapMine(std::uint32_t slot) noexcept {
        return std::atomic_ref<std::uint32_t>(Mine::mine())
                   .exchange(slot + 1, std::memory_order_relaxed) -
               1;
    }

    static std::uint32_t self() noexcept {
        if constexpr (platform::scheduled) {
            return platform::threadNumber() + 1;
        } else {
            return platform::systemThread();
        }
    }

    static bool isOver(std::uint32_t tenant) noexcept {
        if constexpr (platform::scheduled) {
            return false;
        } else {
            return platform::systemThreadIsOver(tenant);
        }
    }

    static bool leavesAtTheEnd() noexcept {
        if constexpr (platform::scheduled) {
            return true; // the scheduler sees to it
        } else {
            return platform::AtThreadExit<giveBack>::arrange();
        }
    }

    static inline constinit Set taken_;
};

} // namespace detail

/// Greater than any slot: the thread has none.
inline constexpr std::uint32_t noSlot = detail::ThreadSlot::Set::none;

/// The slot of the calling thread, or `noSlot`; once it is that, it is that for good.
[[nodiscard]] inline std::uint32_t threadSlot() noexcept {
    return detail::ThreadSlot::get();
}

/// The same for who can do without for once: a number that is no slot, too, if the thread has not
/// asked for one yet.
[[nodiscard]] inline std::uint32_t threadSlotIfTaken() noexcept {
    return detail::ThreadSlot::peek();
}

/// Gives the calling thread's slot back before its time; it gets no other.
inline void giveThreadSlotBack() noexcept {
    detail::ThreadSlot::giveBack();
}

/// Frees the slots of all other threads: in the child after a fork, where there are none. Any
/// number of layers may call it, one after the other.
inline void keepOnlyMySlot() noexcept {
    detail::ThreadSlot::keepOnlyMine();
}

} // namespace heapwright
