// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Accounts for each process of the command, recorded or not. The witness is preloaded behind the
// recorder and reports which object provides malloc. The process tree is observed from outside, as
// heapwright-run does it. The trace can therefore name the processes that it does not cover.
//
// Cost: half a per cent of one processor in the long run.
#pragma once

#include "runner/run/budget.hpp"
#include "runner/run/tree.hpp"
#include "runner/run/witness_file.hpp"
#include "trace_file.hpp"

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace heapwright::recorder::launch {

class Accounting {
public:
    /// Makes the witnesses' file and names it in the environment. Without a file nothing is
    /// accounted.
    explicit Accounting(const Options& options);
    ~Accounting();
    Accounting(const Accounting&) = delete;
    Accounting& operator=(const Accounting&) = delete;

    void begin(pid_t command);

    /// Observes what is due. Returns the nanoseconds until it wants to be called again.
    std::uint64_t tick();

    /// Pre: the process is dead, a child of this one, and not yet waited for.
    void noteDeath(pid_t pid);

    /// Adds what is known to the trace. Post: all children that ended were waited for.
    void write(NewTrace& trace) const;

private:
    bool isOn() const { return witness_.exists(); }

    const char* path_;
    const char* settings_;
    std::string recorder_; ///< as the loader names it
    bool follow_;
    pid_t command_ = 0;
    runner::WitnessFile witness_;
    runner::Tree tree_;
    runner::Budget sampling_;
    runner::Budget scanning_;
};

} // namespace heapwright::recorder::launch
