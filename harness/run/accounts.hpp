// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Puts together what the witnesses wrote and what was seen from outside into one account per
// program image: who gave it malloc, how much CPU time it used, how it ended. Pure: reads both,
// changes none.
#pragma once

#include "tree.hpp"
#include "witness_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace heapwright::harness {

enum class Ending { exited, replaced, endedByHarness, vanished, unknown };

struct Account {
    pid_t pid = 0;
    pid_t parent = 0;
    std::string exe;
    std::string provider; ///< "" = not known
    bool providerIsLibc = false;
    bool witnessed = false;
    Nanoseconds cpu = 0;
    bool exact = false;
    std::optional<std::int64_t> peakBytes;
    Ending ending = Ending::unknown;
    std::uint64_t count = 1;
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

} // namespace heapwright::harness
