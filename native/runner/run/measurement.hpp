// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One measured run. It starts the command, samples its process tree, and ends it at its time limit
// or on a signal. It waits for every process of the tree.
#pragma once

#include "budget.hpp"
#include "options.hpp"
#include "series.hpp"
#include "spawn.hpp"
#include "tail.hpp"
#include "tree.hpp"
#include "witness_file.hpp"

#include <string>
#include <sys/resource.h>

namespace heapwright::runner {

/// Resource usage of all processes that this program waited for, and of their descendants.
struct Usage {
    Nanoseconds user = 0;
    Nanoseconds system = 0;
    std::int64_t minorFaults = 0;
    std::int64_t majorFaults = 0;
    std::int64_t voluntarySwitches = 0;
    std::int64_t involuntarySwitches = 0;
    std::int64_t peakBytes = 0; ///< of the largest single process

    void add(const rusage& usage);
};

class Measurement {
public:
    Measurement(const Options& options, const WitnessFile& witness);

    /// `mask` is the command's signal mask.
    /// Pre: all signals are blocked. Returns false if the command could not be started.
    bool run(const sigset_t& mask);

    const Spawned& spawned() const { return spawned_; }
    const Usage& usage() const { return usage_; }
    const Series& series() const { return series_; }
    const Tree& tree() const { return tree_; }
    const std::string& errorTail() const { return tail_.text(); }
    Nanoseconds wall() const { return (end_ != 0 ? end_ : nowNs()) - spawned_.startNs; }
    bool ended() const { return reaped_; } ///< false only if not even SIGKILL could end the command
    Nanoseconds longestGap() const;        ///< between two samples of the tree
    Nanoseconds meanGap() const;
    std::int64_t treePeakBytes() const { return treePeak_; }
    int waitStatus() const { return waitStatus_; }
    int leftover() const { return leftover_; }
    bool timedOut() const { return timedOut_; }
    bool interrupted() const { return interrupted_; }

private:
    enum class Phase { running, settling, asked, killing };

    bool wait();
    void reap();
    bool childrenLeft() const;
    void readSignals();
    void act(Nanoseconds now);
    void end(Phase phase, Nanoseconds now);
    void watch(Nanoseconds now);
    bool drainErrors();
    Nanoseconds nextWake(Nanoseconds now) const;

    const Options& options_;
    Tree tree_;
    Spawned spawned_;
    Usage usage_;
    Series series_;
    Tail tail_;
    Budget sampling_;
    Budget scanning_;
    Phase phase_ = Phase::running;
    Nanoseconds deadline_ = 0; ///< end of the phase
    Nanoseconds end_ = 0;      ///< time of the command's end; 0 before
    Nanoseconds lastTry_ = 0;  ///< killing: start of the last round
    Nanoseconds paid_ = 0;     ///< own CPU time already charged to an activity
    std::int64_t treePeak_ = 0;
    std::int64_t samples_ = 0;
    int signals_ = -1;
    int waitStatus_ = 0;
    int leftover_ = 0;
    bool reaped_ = false;
    bool timedOut_ = false;
    bool interrupted_ = false;
};

} // namespace heapwright::runner
