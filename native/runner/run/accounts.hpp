// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One account for each program image of the process tree. It has the provider of malloc, the CPU
// time, and how it ended. The balance of all CPU time follows. Pure functions: they do not change
// their input.
#pragma once

#include "tree.hpp"
#include "witness_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace heapwright::runner {

enum class Ending { exited, replaced, killed, endedByHarness, vanished, unknown };

struct Account {
    pid_t pid = 0;
    pid_t parent = 0;
    std::string exe;      ///< "": never sampled
    std::string provider; ///< "": not known
    bool providerIsLibc = false;
    bool witnessed = false;
    Nanoseconds cpu = 0;
    bool exact = false;
    std::optional<std::int64_t> peakBytes;
    Ending ending = Ending::unknown;
    int signal = 0; ///< the signal that ended it; 0: none, or not known
    std::int64_t count = 1;
};

struct Accounts {
    std::vector<Account> list;
    Nanoseconds known = 0; ///< sum of all CPU times
    /// CPU time that reporting processes may have used after their last report.
    Nanoseconds allowance = 0;
    std::int64_t peakBytes = 0; ///< the largest kernel peak of any process
};

/// `gap` is the longest time between two samples of a living process.
Accounts settle(const WitnessFile& witness, const std::vector<Member>& members, Nanoseconds gap);

/// Merges small similar accounts if there are very many.
std::vector<Account> folded(std::vector<Account> accounts);

} // namespace heapwright::runner
