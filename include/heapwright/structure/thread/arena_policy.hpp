// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of several heaps serves a request: the one that is the thread's; the one whose turn it
// is; the one that the thread had last, or the first that nobody is inside.
//
// An assignment has `count` heaps to choose from and `serve(heaps, take)`: it runs
// `take(heap, index)` on one of them and answers what that answers, an object or null. It needs no
// lock and keeps nothing of a thread's that would be lost with it.
#pragma once

#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/sync/shared_word.hpp>
#include <heapwright/sync/thread_slot.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// Each live thread has a heap of its own as long as there are no more threads than heaps; what
/// comes beyond them shares. A thread that ends leaves its heap to one that comes after it, and has
/// it to its very end. Cost: a load and a compare.
template <std::size_t Count>
class ByThread {
    /// One more than the place of the thread's heap; 0 until it asks.
    using Place = platform::PerThread<ByThread, std::uint32_t>;

public:
    static constexpr std::size_t count = Count;

    [[nodiscard]] static std::size_t mine() noexcept {
        const std::uint32_t place = Place::mine();
        return place != 0 ? place - 1 : first();
    }

    template <class Heaps, class Take>
    [[nodiscard]] void* serve(Heaps& heaps, Take take) const noexcept {
        const std::size_t index = mine();
        return take(heaps[index], index);
    }

private:
    [[gnu::cold, gnu::noinline]] static std::uint32_t first() noexcept {
        const std::uint32_t slot = threadSlot();
        const std::uint32_t number = slot == noSlot ? platform::threadNumber() : slot;
        Place::mine() = number % Count + 1;
        return number % Count;
    }
};

/// A heap for each request, one after the other, by a counter that all threads share: balance for
/// the price of a line that every request writes. As MTmalloc does.
template <std::size_t Count>
class RoundRobin {
public:
    static constexpr std::size_t count = Count;

    template <class Heaps, class Take>
    [[nodiscard]] void* serve(Heaps& heaps, Take take) noexcept {
        const std::size_t index = turn_.fetchAdd(1, std::memory_order_relaxed) % Count;
        return take(heaps[index], index);
    }

private:
    alignas(64) SharedWord<std::uint32_t> turn_{0};
};

/// The heap that the thread had last, if nobody is inside; else the first in use that nobody is
/// inside; else one more, up to `Count`, and after that the thread waits for its own. It begins
/// with the one of its own place, as with `ByThread`. Where there is no memory, each of the others
/// in use gets its chance. As ptmalloc does, which in the GNU C library begins in that way, too.
template <std::size_t Count>
class FirstFree {
    /// One more than the heap that the thread had last, whichever array of this type that was in.
    using Last = platform::PerThread<FirstFree, std::uint32_t>;

public:
    static constexpr std::size_t count = Count;

    template <class Heaps, class Take>
        requires AttemptingHeap<typename Heaps::Each>
    [[nodiscard]] void* serve(Heaps& heaps, Take take) noexcept {
        const std::size_t index = Last::mine() != 0 ? Last::mine() - 1 : ByThread<Count>::mine();
        void* object = nullptr;
        if (index >= used() || !attempted(heaps, index, take, object)) [[unlikely]] {
            object = serveElsewhere(heaps, index, take);
        }
        return object != nullptr ? object : serveFromAny(heaps, take);
    }

    /// How many heaps are in use, the first ones.
    [[nodiscard]] std::size_t used() const noexcept {
        return used_.load(std::memory_order_relaxed);
    }

private:
    template <class Heaps, class Take>
    static bool attempted(Heaps& heaps, std::size_t index, Take take, void*& object) noexcept {
        return heaps[index].attempt([&](auto& inside) { object = take(inside, index); });
    }

    template <class Heaps, class Take>
    [[gnu::noinline]] void* serveElsewhere(Heaps& heaps, std::size_t last, Take take) noexcept {
        std::uint32_t used = used_.load(std::memory_order_relaxed);
        std::size_t index = last;
        if (last >= used) { // the thread's own, which nobody has begun with yet
            begin(last);
        } else {
            for (std::size_t step = 1; step < used; ++step) {
                void* object = nullptr;
                if (attempted(heaps, (last + step) % used, take, object)) {
                    remember((last + step) % used);
                    return object;
                }
            }
            if (used < Count) {
                index = used;
                begin(index);
            }
        }
        remember(index);
        return take(heaps[index], index);
    }

    template <class Heaps, class Take>
    [[gnu::cold, gnu::noinline]] void* serveFromAny(Heaps& heaps, Take take) noexcept {
        void* object = nullptr;
        for (std::size_t index = 0; index < used() && object == nullptr; ++index) {
            object = take(heaps[index], index);
        }
        return object;
    }

    static void remember(std::size_t index) noexcept {
        Last::mine() = static_cast<std::uint32_t>(index + 1);
    }

    /// Puts the heaps up to this one in use.
    void begin(std::size_t index) noexcept {
        std::uint32_t used = used_.load(std::memory_order_relaxed);
        while (used <= index &&
               !used_.compareExchange(used, static_cast<std::uint32_t>(index + 1),
                                      std::memory_order_relaxed, std::memory_order_relaxed)) {
        }
    }

    SharedWord<std::uint32_t> used_{1};
};

/// An assignment that can serve from an array of heaps of this kind.
template <class A, class Heaps>
concept ArenaPolicyOf = requires(A assignment, Heaps& heaps) {
    { A::count } -> std::convertible_to<std::size_t>;
    {
        assignment.serve(heaps, [](auto& heap, std::size_t) { return heap.malloc(1); })
    } -> std::same_as<void*>;
};

} // namespace heapwright
