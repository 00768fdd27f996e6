// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Policies that choose the calling thread's heap among several, the same at each call. A selector
// has `count` heaps, and `mine()` is the index of the heap. `ByThread`
// (structure/thread/arena_policy.hpp), where the n-th thread has heap n modulo their number, is one
// too.
#pragma once

#include <heapwright/platform/processors.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/structure/thread/arena_policy.hpp>
#include <heapwright/sync/thread_slot.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <class C>
concept HeapSelector = requires {
    { C::count } -> std::convertible_to<std::size_t>;
    { C::mine() } -> std::same_as<std::size_t>;
};

/// A selector that can reserve a heap for one thread at a time.
template <class C>
concept ExclusiveHeapSelector = HeapSelector<C> && requires(std::size_t index) {
    { C::isExclusive(index) } -> std::same_as<bool>;
};

/// A selector that gives a thread its heap only after some use. `earns` notes a request, and
/// reports whether the thread has its heap. It has one from then on.
template <class C>
concept EarnedHeapSelector = ExclusiveHeapSelector<C> && requires {
    { C::earns() } -> std::same_as<bool>;
};

/// A selector whose state must be updated in a forked child.
template <class C>
concept ForkAwareHeapSelector = HeapSelector<C> && requires {
    { C::afterForkInChild() } -> std::same_as<void>;
};

/// Twice as many heaps as processors, but at most `Most`. The n-th thread has heap n modulo their
/// number. As in Hoard.
/// Cost: a load and a compare.
template <std::size_t Most>
class PerProcessor {
    /// One more than the index of the thread's heap; 0 before its first request.
    using Mine = platform::PerThread<PerProcessor, std::uint32_t>;

public:
    static constexpr std::size_t count = Most;
    static_assert(Most >= 1 && Most < UINT32_MAX);

    [[nodiscard]] static std::size_t mine() noexcept {
        const std::size_t known = Mine::mine();
        return known != 0 ? known - 1 : chosen();
    }

private:
    [[gnu::cold, gnu::noinline]] static std::size_t chosen() noexcept {
        const std::size_t twice = 2 * platform::processors();
        const std::size_t index = platform::threadNumber() % (twice < Most ? twice : Most);
        Mine::mine() = static_cast<std::uint32_t>(index + 1);
        return index;
    }
};

/// A heap for each live thread, by its slot. Threads without a slot share one more heap: those that
/// came when `Count` others existed, and those that have released their slot. The next thread in a
/// slot inherits the heap.
template <std::size_t Count>
struct OwnHeap {
    static constexpr std::size_t count = Count + 1;

    [[nodiscard]] static std::size_t mine() noexcept {
        const std::size_t slot = threadSlot();
        return slot < Count ? slot + 1 : 0;
    }

    /// Whether a heap belongs to one thread at a time.
    [[nodiscard]] static constexpr bool isExclusive(std::size_t index) noexcept {
        return index != 0;
    }

    static void afterForkInChild() noexcept { keepOnlyMySlot(); }
};

/// As `OwnHeap`, but only the threads in the first `Prompt` slots have a heap at once. A thread in
/// another slot gets its heap with its `Requests`-th noted request, and has the shared heap before.
/// In a slot beyond twice the number of processors, and beyond `2 * Prompt`, it is the
/// `CrowdedRequests`-th, because most of them then wait. A thread that allocates little thus needs
/// no memory of its own.
template <std::size_t Count, std::size_t Prompt, std::uint32_t Requests,
          std::uint32_t CrowdedRequests>
class EarnedHeap : public OwnHeap<Count> {
    static_assert(Requests >= 1 && CrowdedRequests >= Requests);
    /// The number of noted requests of the thread; `earned` if it has its heap.
    using Noted = platform::PerThread<EarnedHeap, std::uint32_t>;
    static constexpr std::uint32_t earned = UINT32_MAX;

public:
    [[nodiscard]] static std::size_t mine() noexcept {
        return threadSlot() < Prompt || Noted::mine() == earned ? OwnHeap<Count>::mine() : 0;
    }

    /// False for a thread without a slot.
    [[nodiscard]] static bool earns() noexcept {
        const std::size_t slot = threadSlot();
        std::uint32_t& noted = Noted::mine();
        if (slot >= Prompt && noted != earned) {
            const bool crowded =
                ++noted >= Requests && slot >= 2 * Prompt && slot >= 2 * platform::processors();
            noted = noted >= (crowded ? CrowdedRequests : Requests) ? earned : noted;
        }
        return mine() != 0;
    }
};

} // namespace heapwright
