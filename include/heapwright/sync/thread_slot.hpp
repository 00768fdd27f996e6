// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A small number of each live thread, so that a layer can index an array by thread. A thread claims
// the smallest free slot at its first call. It releases the slot at its end, after its last
// thread_local destructor, in the last round of its key destructors. The next owner of the slot
// inherits what the layers' arrays hold there, and sees all writes of the previous owner.
// `platform::threadNumber` distinguishes the two threads.
//
// A thread gets `noSlot` in three cases. All slots are taken, it has already released its slot, or
// it is in a signal handler that interrupted the claim. The caller must work without a slot then.
// If no slot is free, a claim reuses the slot of a thread that ended without a release.
// Cost: a load and a compare. The claim allocates nothing as long as the process has few thread
// keys (`platform/thread_exit.hpp`). If the C library allocates during the claim, that malloc gets
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

/// The number of slots.
inline constexpr std::size_t threadSlots = 4096;

namespace detail {

class ThreadSlot {
    /// One more than the slot; 0 before the first call.
    using Mine = platform::PerThread<ThreadSlot, std::uint32_t>;
    struct Name {};
    /// The owner number under which the thread holds its slot; 0 without a slot.
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

    /// Releases the slot of the calling thread, which gets no other.
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

    /// Claims a slot for another owner number.
    [[nodiscard]] static std::uint32_t claimAs(std::uint32_t tenant) noexcept {
        return taken_.claim(tenant);
    }

private:
    [[gnu::cold, gnu::noinline]] static std::uint32_t claim() noexcept {
        // An exchange, because a signal handler may interrupt between a load and a store and claim
        // a slot.
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

    /// The value of the slot before the first call.
    static constexpr std::uint32_t unasked = 0U - 1U;

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
            return true; // the scheduler calls `giveBack`
        } else {
            return platform::AtThreadExit<giveBack>::arrange();
        }
    }

    static inline constinit Set taken_;
};

} // namespace detail

/// Greater than any slot: the thread has none.
inline constexpr std::uint32_t noSlot = detail::ThreadSlot::Set::none;

/// The slot of the calling thread, or `noSlot`. A thread that got `noSlot` outside a claim gets no
/// slot later.
[[nodiscard]] inline std::uint32_t threadSlot() noexcept {
    return detail::ThreadSlot::get();
}

/// As `threadSlot`, but claims nothing. Returns a number beyond all slots if the thread has none
/// yet.
[[nodiscard]] inline std::uint32_t threadSlotIfTaken() noexcept {
    return detail::ThreadSlot::peek();
}

/// Releases the calling thread's slot early. The thread gets no other.
inline void giveThreadSlotBack() noexcept {
    detail::ThreadSlot::giveBack();
}

/// Frees the slots of all other threads, in the child after a fork. Several layers may call it in
/// succession.
inline void keepOnlyMySlot() noexcept {
    detail::ThreadSlot::keepOnlyMine();
}

} // namespace heapwright
