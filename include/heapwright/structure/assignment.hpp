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

#include <heapwright/core/concepts.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/sync/shared.hpp>
#include <heapwright/sync/thread_slot.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// A heap that does something only if that needs no waiting: `attempt(body)` runs `body` on what is
/// inside its lock; false if it was not free.
template <class H>
concept AttemptingHeap = Heap<H> && requires(H heap) {
    {
        heap.attempt([](auto& /*inside*/) {})
        } -> std::same_as<bool>;
};

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
    alignas(64) Shared<std::uint32_t> turn_{0};
};

/// The heap that the thread had last, if nobody is inside; else the first that nobody is inside;
/// else one more, up to `Count`, and after that the thread waits for its own. What has no memory is
/// asked no more than once: then each of the others gets its chance. As ptmalloc does.
template <std::size_t Count>
class FirstFree {
    /// A hint only: another heap of the same type may have fewer in use.
    using Last = platform::PerThread<FirstFree, std::uint32_t>;

public:
    static constexpr std::size_t count = Count;

    template <class Heaps, class Take>
    requires AttemptingHeap<typename Heaps::Each>
    [[nodiscard]] void* serve(Heaps& heaps, Take take) noexcept {
        std::size_t index = Last::mine();
        void* object = nullptr;
        if (index >= used_.load(std::memory_order_relaxed) ||
            !attempted(heaps, index, take, object)) [[unlikely]] {
            index = elsewhere(heaps, index, take, object);
            Last::mine() = static_cast<std::uint32_t>(index);
        }
        return object != nullptr ? object : fromOthers(heaps, index, take);
    }

    /// How many heaps are in use.
    [[nodiscard]] std::size_t used() const noexcept {
        return used_.load(std::memory_order_relaxed);
    }

private:
    template <class Heaps, class Take>
    static bool attempted(Heaps& heaps, std::size_t index, Take take, void*& object) noexcept {
        return heaps[index].attempt([&](auto& inside) { object = take(inside, index); });
    }

    /// Serves from another heap than `last`; from which.
    template <class Heaps, class Take>
    [[gnu::noinline]] std::size_t elsewhere(Heaps& heaps, std::size_t last, Take take,
                                            void*& object) noexcept {
        std::uint32_t used = used_.load(std::memory_order_relaxed);
        for (std::size_t step = 1; step <= used; ++step) {
            const std::size_t index = (last + step) % used;
            if (attempted(heaps, index, take, object)) {
                return index;
            }
        }
        while (used < Count) {
            if (used_.compareExchange(used, used + 1, std::memory_order_relaxed,
                                      std::memory_order_relaxed)) {
                object = take(heaps[used], used);
                return used;
            }
        }
        const std::size_t index = last < Count ? last : 0;
        object = take(heaps[index], index);
        return index;
    }

    template <class Heaps, class Take>
    [[gnu::cold, gnu::noinline]] void* fromOthers(Heaps& heaps, std::size_t index,
                                                  Take take) noexcept {
        const std::size_t used = used_.load(std::memory_order_relaxed);
        void* object = nullptr;
        for (std::size_t step = 1; step < used && object == nullptr; ++step) {
            const std::size_t other = (index + step) % used;
            object = take(heaps[other], other);
        }
        return object;
    }

    Shared<std::uint32_t> used_{1};
};

/// An assignment that can serve from an array of heaps of this kind.
template <class A, class Heaps>
concept AssignmentOf = requires(A assignment, Heaps& heaps) {
    { A::count } -> std::convertible_to<std::size_t>;
    {
        assignment.serve(heaps, [](auto& heap, std::size_t) { return heap.malloc(1); })
        } -> std::same_as<void*>;
};

} // namespace heapwright
