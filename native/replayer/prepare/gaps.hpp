// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a thread computed between two of its calls. A trace has one time for each call: the
// return of an allocation, the entry of a free, and both of a realloc. The time from one call to
// the next therefore contains the program's work, the recorder's, and up to two calls.
//
// Model: the shortest gaps of a kind contain no work. Their length, the quantile of 1 %, is taken
// off every gap of that kind. A gap also contains times in which the thread waited. Gaps are cut to
// the length at which all gaps and calls together have the processor time of the process. The sums
// come from a histogram with steps of up to 6 %, by their upper ends, and gaps are cut at such an
// end. The work can therefore be up to 12 % too short, but not too long. A trace without that time
// has gaps of at most a millisecond.
//
// A hostile trace can have any times, so gaps have a limit and sums end at the largest number.
#pragma once

#include "replayer/histogram.hpp"
#include "replayer/plan.hpp"
#include "trace/reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heapwright::replayer {

/// The sum, or the largest number if that is less.
constexpr std::uint64_t sumOrMost(std::uint64_t one, std::uint64_t other) {
    return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

struct Gap {
    /// 18 minutes: a longer time is taken for this one.
    static constexpr std::uint64_t most = std::uint64_t{1} << 40U;

    /// Bit 0: it ends at a return, so it contains that call. Bit 1: it begins at the entry of a
    /// free, so it contains that call.
    unsigned kind = 0;
    std::uint64_t nanoseconds = 0;
};

constexpr std::size_t gapKinds = 4;

/// Finds the gap before each call.
class GapClock {
public:
    explicit GapClock(std::size_t threads) : last_(threads) {}

    /// Null for a thread's first call. Pre: the events of a thread come in order, without
    /// `Routine::release`.
    std::optional<Gap> before(std::size_t thread, const trace::Event& event);

private:
    struct Stamp {
        bool seen = false;
        bool entered = false; ///< of a free: its call follows
        std::uint64_t time = 0;
    };

    std::vector<Stamp> last_;
};

/// Which part of a gap is replayed as work.
struct GapModel {
    std::array<std::uint64_t, gapKinds> calls{}; ///< ns, by kind of gap
    std::uint64_t longest = 0;                   ///< ns

    std::uint64_t work(const Gap& gap) const {
        const std::uint64_t call = calls[gap.kind];
        const std::uint64_t rest = gap.nanoseconds > call ? gap.nanoseconds - call : 0;
        return rest < longest ? rest : longest;
    }
};

/// Collects all gaps of a process.
class GapSurvey {
public:
    static constexpr std::uint64_t longestUnknown = 1'000'000; ///< ns

    void add(const Gap& gap) {
        histograms_[gap.kind].add(gap.nanoseconds);
        sum_ = sumOrMost(sum_, gap.nanoseconds);
    }

    /// `processorTime` in ns; 0 = not known.
    GapModel model(std::uint64_t processorTime) const;
    std::uint64_t nanoseconds() const { return sum_; } ///< of all gaps

    /// ns under a model, from the histograms: of the work, and of the calls beside it.
    std::uint64_t work(const GapModel& model) const;
    std::uint64_t calls(const GapModel& model) const;

private:
    template <class Length>
    std::uint64_t sumOf(Length length) const;

    std::array<AllHistogram, gapKinds> histograms_{};
    std::uint64_t sum_ = 0;
};

/// The processor time of a process in ns, as the launcher accounted it; 0 = not known.
std::uint64_t processorTime(const trace::Trace& trace, std::uint32_t process);

} // namespace heapwright::replayer
