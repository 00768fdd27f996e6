// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// On which processor the calling thread is, for heaps that keep something for each: the real one,
// or one that is said (so that more can be seen than a machine has). It is a `HeapSelector`
// (structure/thread/heap_selector.hpp) whose answer may change from call to call.
#pragma once

#include <heapwright/platform/processors.hpp>
#include <heapwright/platform/thread.hpp>

#include <atomic>
#include <cstddef>

namespace heapwright {

/// The processor that the thread runs on, modulo `Most`.
template <std::size_t Most>
struct RealProcessors {
    static_assert(Most >= 1);
    static constexpr std::size_t count = Most;

    [[nodiscard]] static std::size_t mine() noexcept { return platform::currentProcessor() % Most; }
    /// How many there are.
    [[nodiscard]] static std::size_t present() noexcept {
        const std::size_t all = platform::processors();
        return all < Most ? all : Most;
    }
};

/// The processor that the thread says it is on, the first until it says so.
template <std::size_t Most>
class SimulatedProcessors {
    using Mine = platform::PerThread<SimulatedProcessors, std::size_t>;

public:
    static_assert(Most >= 1);
    static constexpr std::size_t count = Most;

    [[nodiscard]] static std::size_t mine() noexcept { return Mine::mine(); }
    /// How many there are: `Most`, unless fewer were said.
    [[nodiscard]] static std::size_t present() noexcept {
        return present_.load(std::memory_order_relaxed);
    }

    /// Pre: 1 <= `processors` <= `Most`. For caches that are made from here on.
    static void bePresent(std::size_t processors) noexcept {
        present_.store(processors, std::memory_order_relaxed);
    }
    /// Pre: `processor` < `present()`.
    static void beOn(std::size_t processor) noexcept { Mine::mine() = processor; }

private:
    static inline std::atomic<std::size_t> present_{Most};
};

/// The memory node that a processor is near: each node has as many of them, in their order.
template <class Processors, std::size_t Nodes>
[[nodiscard]] std::size_t nodeOfProcessor(std::size_t processor) noexcept {
    if constexpr (Nodes == 1) {
        return 0;
    } else {
        return processor * Nodes / Processors::present() % Nodes;
    }
}

} // namespace heapwright
