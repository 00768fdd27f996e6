// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One run of a few threads under a scheduler. At every step on a shared variable or a lock all of
// them stand still, and a pilot chooses the one that continues. A thread that wants a lock which
// another has cannot go on. Memory is as the steps before left it. The tests try orders of steps,
// not the liberties that a processor takes with weaker memory orders. The threads have the numbers
// from 0 on, the one that makes the scenario and ends it has 8.
#pragma once

#include "schedule.hpp"

#include <heapwright/platform/thread.hpp>
#include <heapwright/sync/events.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heapwright::testing::model {

/// What a thread is about to do.
struct Operation {
    Event event = Event::lockAtomic; ///< that: begin, which no other thread depends on
    const volatile void* address = nullptr;
    bool failing = false; ///< it tries for a lock that another thread has
};

/// Whether the order of two operations of different threads makes a difference.
[[nodiscard]] bool areDependent(const Operation& one, const Operation& other);

/// Whether the later of two dependent operations could have come first, as far as locks go: none is
/// taken while another thread has it.
[[nodiscard]] bool canBeSwapped(const Operation& earlier, const Operation& later);

/// A few threads, and what must be true when they have ended. Each run has a new one.
class Scenario {
public:
    Scenario() = default;
    Scenario(const Scenario&) = delete;
    Scenario& operator=(const Scenario&) = delete;
    virtual ~Scenario() = default;

    [[nodiscard]] virtual std::size_t threads() const = 0;
    virtual void thread(std::size_t index) = 0;
    virtual void atEnd() {}
};

/// Says that the run has failed, from inside a scenario; the first word counts, and ends the run.
void fail(const std::string& what);

/// Fails unless it is so.
inline void require(bool holds, const char* what) {
    if (!holds) {
        fail(what);
    }
}

class Run {
public:
    /// What a pilot sees of the run: what each thread is about to do, and which can go on.
    struct View {
        std::size_t threads = 0;
        std::array<Operation, 8> next{};
        std::uint32_t ended = 0;   ///< a bit for each thread
        std::uint32_t enabled = 0; ///< a bit for each thread that can go on
        std::size_t last = 0;      ///< the thread of the last step
    };
    /// Chooses one of the threads that are enabled.
    using Pilot = std::function<std::size_t(const View&)>;

    /// What came of a run.
    struct Outcome {
        std::string failure; ///< empty: none
        Schedule schedule;
        std::vector<Operation> operations; ///< one for each step
        std::size_t lockTakes = 0;
        std::size_t lockFailures = 0; ///< a lock was wanted that another thread had: once, if it
                                      ///< is tried and then waited for
    };

    /// Runs a scenario to its end. After a failure the scenario is left as it is, in the middle.
    [[nodiscard]] static Outcome of(Scenario& scenario, const Pilot& pilot);

    /// The steps of an outcome in words, one a line.
    [[nodiscard]] static std::string trace(const Outcome& outcome);
};

} // namespace heapwright::testing::model
