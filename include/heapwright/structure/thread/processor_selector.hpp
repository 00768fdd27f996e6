// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The processor of the calling thread, for heaps with state for each processor. It is the real one,
// or a simulated one, to study a larger machine. It is a `HeapSelector`
// (structure/thread/heap_selector.hpp) whose result may change between calls.
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
    /// The number of processors.
    [[nodiscard]] static std::size_t present() noexcept {
        const std::size_t all = platform::processors();
        return all < Most ? all : Most;
    }
};

/// The processor that the thread has set; the first one before that.
template <std::size_t Most>
class SimulatedProcessors {
    using Mine = platform::PerThread<SimulatedProcessors, std::size_t>;

public:
    static_assert(Most >= 1);
    static constexpr std::size_t count = Most;

    [[nodiscard]] static std::size_t mine() noexcept { return Mine::mine(); }
    /// The number of processors: `Most`, unless fewer were set.
    [[nodiscard]] static std::size_t present() noexcept {
        return present_.load(std::memory_order_relaxed);
    }

    /// Applies to caches created from now on.
    /// Pre: 1 <= `processors` <= `Most`.
    static void bePresent(std::size_t processors) noexcept {
        present_.store(processors, std::memory_order_relaxed);
    }
    /// Pre: `processor` < `present()`.
    static void beOn(std::size_t processor) noexcept { Mine::mine() = processor; }

private:
    static inline std::atomic<std::size_t> present_{Most};
};

/// The memory node of a processor. Each node has the same number of processors, in their order.
template <class Processors, std::size_t Nodes>
[[nodiscard]] std::size_t nodeOfProcessor(std::size_t processor) noexcept {
    if constexpr (Nodes == 1) {
        return 0;
    } else {
        return processor * Nodes / Processors::present() % Nodes;
    }
}

} // namespace heapwright
