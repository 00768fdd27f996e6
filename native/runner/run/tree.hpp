// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The process tree of the command, seen from outside. This program is the tree's sub-reaper, so
// every process in it has a chain of parents that ends here, orphans included. New ones are found
// by their witness records at once, and by walking /proc, which also finds those that never report.
//
// Invariants: a member stays listed after its end; its descriptor reads nothing once it is gone, so
// a pid that is used again is not mistaken for it. A pid that is known not to belong is not looked
// at again while it lives: a stranger can never become a descendant.
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

/// A span of a process's lifetime in which it ran one program.
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
    std::int64_t lastBytes = 0; ///< at the last look before it began to die
    bool reaped = false;        ///< waited for by this program: `cpu` is final and exact
    int status = 0;             ///< as wait gave it, if `reaped`
    bool signalled = false;     ///< this program sent it a signal
    std::vector<ImageSpan> spans;
};

class Tree {
public:
    Tree(const WitnessFile& witness, pid_t reaper) : witness_(witness), reaper_(reaper) {}

    /// Takes up a process if it is of the tree; whether it is.
    bool belongs(pid_t pid);

    /// Takes up the processes that have reported since the last call. Cheap.
    void adoptReported();

    /// Walks /proc for processes not known yet, and looks which program each member runs now.
    void scan();

    /// Reads the memory and CPU time of every living member; the sum of the resident sets.
    std::int64_t sample();

    /// A dead child of this program that is about to be waited for.
    Member& noteDeath(pid_t pid);

    /// Sends the signal to every living process of the tree, as /proc lists it at this moment;
    /// how many there are.
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
