// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One account per program image of the tree: who gave it malloc, how much CPU time it used, how it
// ended; and the balance of the CPU time of all. Pure: reads what was gathered, changes none of it.
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
    std::string exe;      ///< "" = never seen alive
    std::string provider; ///< "" = not known
    bool providerIsLibc = false;
    bool witnessed = false;
    Nanoseconds cpu = 0;
    bool exact = false;
    std::optional<std::int64_t> peakBytes;
    Ending ending = Ending::unknown;
    int signal = 0; ///< what killed it; 0 = nothing, or not known
    std::int64_t count = 1;
};

struct Accounts {
    std::vector<Account> list;
    Nanoseconds known = 0;      ///< sum of all CPU times
    Nanoseconds allowance = 0;  ///< what reporting processes may have used after their last word
    std::int64_t peakBytes = 0; ///< the largest kernel peak that any process reported
};

/// `gap` is the longest time for which a living process was not looked at.
Accounts settle(const WitnessFile& witness, const std::vector<Member>& members, Nanoseconds gap);

/// Folds small alike accounts into one another when there are very many.
std::vector<Account> folded(std::vector<Account> accounts);

} // namespace heapwright::runner
