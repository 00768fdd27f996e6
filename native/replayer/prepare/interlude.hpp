// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes what a thread does between two of its calls: visits of its objects, then the work of the
// gap. The number of visits is in proportion to the work. Only objects that stay with their thread
// are visited, because another thread could free any other at that moment.
#pragma once

#include "gaps.hpp"
#include "ledger.hpp"
#include "locality.hpp"
#include "recency.hpp"
#include "writer.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace heapwright::replayer {

class Interlude {
public:
    /// Visits of a plan. A larger rate is lowered, so that the plan stays small.
    static constexpr std::uint64_t mostVisits = std::uint64_t{1} << 22;

    /// `between` has the rates. `locality` is of the whole trace.
    Interlude(const GapModel& model, const Locality& locality, const Between& between,
              std::size_t threads)
        : model_(model), locality_(locality), between_(between), clock_(threads), threads_(threads),
          random_(seed) {}

    /// The commands before a call. Pre: the steps of a thread come in order, without releases.
    void before(const Step& step, PlanWriter& writer);

    /// An object has its slot now, or leaves it. Objects in the shared table are ignored.
    void made(const Object& object);
    void left(const Object& object);

    /// The header's account of all that was written.
    const Between& done() const { return between_; }

private:
    static constexpr std::uint64_t seed = 2026; ///< every plan of a trace is the same

    struct Thread {
        Recency objects;
        std::uint64_t credit = 0; ///< part of a visit, in 10^-6
    };

    void visit(std::size_t thread, PlanWriter& writer);

    GapModel model_;
    Locality locality_;
    Between between_;
    GapClock clock_;
    std::vector<Thread> threads_;
    std::mt19937_64 random_;
};

} // namespace heapwright::replayer
