// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a scenario in every order of its threads' steps that makes a difference, depth first, each
// run from its beginning.
//
// Two orders make no difference if one becomes the other by swaps of independent neighbours. These
// are steps of different threads on different words, or two reads. `dynamic` reduction runs one of
// each set of orders that are the same in this sense, and few twice. A run may show that two
// dependent steps could have come the other way round. Then that order is tried as well. A thread
// whose step has been tried in a state sleeps until a dependent step happens. That is complete if
// the scheduler sees all variables that threads share, or a lock that it sees protects them. From
// Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic partial order reduction" (2014; source sets),
// after Flanagan and Godefroid (2005) and Godefroid's sleep sets (1996). That two threads take the
// same lock counts as a race of the takings. Where two steps write to what a lock should protect
// (`written`) and neither comes before the other, the run has failed. `none` tries all orders, or
// those with a limited number of preemptions (`preemptions`). A preemption leaves a thread that
// could have continued (Musuvathi and Qadeer 2007). It checks the other reduction, and serves
// scenarios that are too large.
#pragma once

#include "run.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heapwright::testing::model {

enum class Reduction { dynamic, none };

struct Options {
    Reduction reduction = Reduction::dynamic;
    std::size_t preemptions = SIZE_MAX; ///< with `none` only
    std::size_t mostRuns = 200'000;
};

/// What came of an exploration.
struct Exploration {
    std::size_t runs = 0;
    std::size_t cut = 0;   ///< runs that turned out, on the way, to lead to nothing new
    std::size_t steps = 0; ///< of all runs together
    bool complete = false; ///< every order was tried, as far as the options go
    std::string failure;   ///< what failed first; empty: nothing
    std::string schedule;  ///< the run in which it did
    std::string trace;     ///< its steps
};

using Maker = std::function<std::unique_ptr<Scenario>()>;

/// Explores until the end, the first failure, or the most runs.
[[nodiscard]] Exploration explore(const Maker& make, const Options& options);

/// Runs one schedule; a schedule that ends early goes on with the first thread that can.
[[nodiscard]] Exploration replay(const Maker& make, const std::string& schedule);

/// The work of a scenario's locks, over runs in an order drawn at random. After each step every
/// thread that can continue is as likely to be next.
struct Contention {
    std::size_t lockTakes = 0;
    std::size_t lockFailures = 0; ///< the lock was another thread's at that moment
    std::string failure;          ///< empty: none
};
[[nodiscard]] Contention sample(const Maker& make, std::size_t runs, std::uint32_t seed);

template <class S>
[[nodiscard]] Contention sample(std::size_t runs, std::uint32_t seed) {
    return sample([] { return std::make_unique<S>(); }, runs, seed);
}

template <class S>
[[nodiscard]] Exploration explore(const Options& options = {}) {
    return explore([] { return std::make_unique<S>(); }, options);
}

template <class S>
[[nodiscard]] Exploration replay(const std::string& schedule) {
    return replay([] { return std::make_unique<S>(); }, schedule);
}

/// For a test's message.
inline std::string toText(const Exploration& found) {
    return found.failure + "\nschedule: " + found.schedule + "\n" + found.trace;
}

} // namespace heapwright::testing::model
