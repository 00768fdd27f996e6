// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Policies that choose one of several heaps for a request. The choice is that of the thread, or
// each in turn. Or it is the last heap of the thread, else the first whose lock is free.
//
// A policy has `count` heaps and `serve(heaps, take)`, which runs `take(heap, index)` on one of
// them and returns its result, an object or null. It needs no lock, and loses nothing when a thread
// ends. If the calling thread has a heap that is tried first, `mine()` is its index.
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

/// Each live thread has a heap of its own as long as there are at least as many heaps as threads.
/// Further threads share. A thread that ends leaves its heap to a later one, and uses it to the
/// end.
/// Cost: a load and a compare.
template <std::size_t Count>
class ByThread {
    /// One more than the place of the thread's heap; 0 before its first request.
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

/// The next heap for each request, by a counter that all threads share. The load is balanced, at
/// the cost of a cache line that every request writes. As in MTmalloc.
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

/// The last heap of the thread, if its lock is free. Else the first heap in use whose lock is free.
/// Else one more heap, up to `Count`. If there is none, the thread waits for its last heap. It
/// starts with the heap of its own place, as in `ByThread`. Without memory, each of the other heaps
/// in use is tried. As in ptmalloc, which starts like this in the GNU C library, too.
template <std::size_t Count>
class FirstFree {
    /// One more than the index of the heap that the thread used last, in any array of this type.
    using Last = platform::PerThread<FirstFree, std::uint32_t>;

public:
    static constexpr std::size_t count = Count;

    [[nodiscard]] static std::size_t mine() noexcept {
        return Last::mine() != 0 ? Last::mine() - 1 : ByThread<Count>::mine();
    }

    template <class Heaps, class Take>
        requires AttemptingHeap<typename Heaps::Each>
    [[nodiscard]] void* serve(Heaps& heaps, Take take) noexcept {
        const std::size_t index = mine();
        void* object = nullptr;
        if (index >= used() || !attempted(heaps, index, take, object)) [[unlikely]] {
            object = serveElsewhere(heaps, index, take);
        }
        return object != nullptr ? object : serveFromAny(heaps, take);
    }

    /// The number of heaps in use, which are the first ones.
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
        if (last >= used) { // the heap of the thread's place, which is not in use yet
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

    /// Puts the heaps up to `index` in use.
    void begin(std::size_t index) noexcept {
        std::uint32_t used = used_.load(std::memory_order_relaxed);
        while (used <= index &&
               !used_.compareExchange(used, static_cast<std::uint32_t>(index + 1),
                                      std::memory_order_relaxed, std::memory_order_relaxed)) {
        }
    }

    SharedWord<std::uint32_t> used_{1};
};

/// A policy that can serve from an array of heaps of this kind.
template <class A, class Heaps>
concept ArenaPolicyOf = requires(A assignment, Heaps& heaps) {
    { A::count } -> std::convertible_to<std::size_t>;
    {
        assignment.serve(heaps, [](auto& heap, std::size_t) { return heap.malloc(1); })
    } -> std::same_as<void*>;
};

/// A policy that names the heap that it tries first for the calling thread.
template <class A>
concept HomeArenaPolicy = requires {
    { A::mine() } -> std::convertible_to<std::size_t>;
};

} // namespace heapwright
