// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// On which processor the calling thread is, for heaps that keep something for each: the real one,
// or one that is said (so that more can be seen than a machine has). It is a `HeapChoice`
// (structure/heap_choice.hpp) whose answer may change from call to call.
#pragma once

#include <heapwright/platform/processors.hpp>
#include <heapwright/platform/thread.hpp>

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
    [[nodiscard]] static std::size_t present() noexcept { return Most; }

    /// Pre: `processor` < `Most`.
    static void beOn(std::size_t processor) noexcept { Mine::mine() = processor; }
};

} // namespace heapwright
