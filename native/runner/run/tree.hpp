// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The process tree of the command, observed from outside. This program is the tree's sub-reaper, so
// the chain of parents of every process in it ends here, orphans included. New processes are found
// by their witness records at once, and by walks over /proc, which also find those that never
// report.
//
// Invariant: a member stays listed after its end. Its descriptor then reads nothing, so a process
// that reuses the pid is not mistaken for it. A pid outside the tree is not examined again while it
// lives, because a stranger can never become a descendant.
#pragma once

#include "clock.hpp"
#include "witness_file.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace heapwright::runner {

/// A part of a process's lifetime in which it ran one program.
struct ImageSpan {
    std::string exe;
    Nanoseconds start = 0;
    Nanoseconds cpuAtStart = 0;
};

struct Member {
    pid_t pid = 0;
    pid_t parent = 0;
    int statm = -1;
    Nanoseconds firstSeen = 0;
    Nanoseconds lastSeen = 0;
    Nanoseconds gone = 0; ///< when its end was noticed; 0 while it lives
    Nanoseconds cpu = 0;
    std::int64_t peakBytes = 0;
    std::int64_t lastBytes = 0; ///< at the last sample before it began to end
    bool reaped = false;        ///< this program has waited for it: `cpu` is final and exact
    int status = 0;             ///< status from wait, if `reaped`
    bool signalled = false;     ///< this program has sent it a signal
    std::vector<ImageSpan> spans;
};

class Tree {
public:
    Tree(const WitnessFile& witness, pid_t reaper) : witness_(witness), reaper_(reaper) {}

    /// Adds a process if it belongs to the tree; returns whether it does.
    bool belongs(pid_t pid);

    /// Adds the processes that have reported since the last call. Low cost.
    void adoptReported();

    /// Walks /proc for unknown processes, and reads the present program of each member.
    void scan();

    /// Reads the memory and CPU time of every living member. Returns the sum of the resident sets.
    std::int64_t sample();

    /// Records a dead child of this program before it is waited for.
    Member& noteDeath(pid_t pid);

    /// Sends the signal to every living process of the tree, as listed in /proc now. Returns their
    /// number.
    int signalAll(int signal);

    const std::vector<Member>& members() const { return members_; }
    std::size_t living() const { return alive_.size(); }

private:
    bool isStranger(pid_t pid) const { return strangers_.contains(pid); }
    Member* find(pid_t pid);
    void adopt(pid_t pid, pid_t parent);
    void lookAtProgram(Member& member);
    void bury(Member& member);
    std::vector<pid_t> listed() const;

    const WitnessFile& witness_;
    pid_t reaper_;
    std::uint32_t reported_ = 0;
    std::vector<Member> members_;
    std::unordered_map<pid_t, std::size_t> alive_;
    std::unordered_set<pid_t> strangers_;
};

} // namespace heapwright::runner
