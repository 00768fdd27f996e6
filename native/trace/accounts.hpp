// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The program images that ran in the process tree of a recorded command: the provider of malloc in
// each, and its processor time. The launcher writes these records into a system block when the
// command has ended. A trace without them comes from an earlier recorder, or from one that was
// killed.
#pragma once

#include "trace/layout.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace heapwright::trace {

class Trace;

namespace record {
constexpr std::uint16_t processAccount = 4;
constexpr std::uint16_t accountTotals = 5;
} // namespace record

namespace account {
constexpr std::uint32_t witnessed = 1; ///< the image reported its provider of malloc
constexpr std::uint32_t recorded = 2;  ///< its calls of malloc are in the trace
constexpr std::uint32_t libc = 4;      ///< the C library provides malloc
constexpr std::uint32_t exact = 8;     ///< the processor time is known to the end
constexpr std::uint32_t served = 16;   ///< the recorder provides malloc, recorded or not
} // namespace account

/// record::processAccount; the program's path and the provider's follow, `exeLength` and
/// `providerLength` bytes.
struct ProcessAccount {
    std::uint32_t pid;
    std::uint32_t parentPid;
    std::uint32_t flags;
    std::uint32_t count;     ///< how many alike images this is
    std::uint64_t cpuNs;     ///< of all of them
    std::uint64_t peakBytes; ///< resident, of the largest; 0 = not known
    std::uint32_t exeLength;
    std::uint32_t providerLength;
};
static_assert(sizeof(ProcessAccount) == 40);

/// record::accountTotals; the settings follow, up to the end of the record. They are lines
/// NAME=VALUE of the command's environment. They decide which heap a language runtime uses, or set
/// an allocator.
struct AccountTotals {
    std::uint64_t cpuNs;       ///< of the whole tree, as the kernel counts it
    std::uint64_t allowanceNs; ///< what accounted processes may have used after their last word
};
static_assert(sizeof(AccountTotals) == 16);

struct Account {
    ProcessAccount fields;
    std::string executable; ///< empty: never met alive
    std::string provider;   ///< empty: not known
};

struct Accounts {
    bool present = false;
    AccountTotals totals = {};
    std::string settings;
    std::vector<Account> processes;
};

/// What the trace says of the command's processes.
Accounts readAccounts(const Trace& trace);

} // namespace heapwright::trace
