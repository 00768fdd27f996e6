// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Merges the three sources on a process into one lifetime. They are the records of its program
// images, the status that its parent received from wait, and the samples taken from outside.
//
// The sources are joined by pid. Times and the CPU clock separate processes that had the same pid.
#pragma once

#include "tree.hpp"
#include "witness_file.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heapwright::runner {

struct ProcessLifetime {
    pid_t pid = 0;
    pid_t parent = 0;
    std::vector<const witness::Record*> images; ///< empty: the process never reported
    const witness::Reaped* reaped = nullptr;    ///< null: no parent reported its wait
    const Member* member = nullptr;             ///< null: never sampled
    std::vector<std::size_t> children;          ///< indices of lifetimes

    Nanoseconds begin() const;
    Nanoseconds end() const; ///< 0 when it is not known
    bool exited() const;     ///< the last image reached its exit
};

/// Whether a bit of a record's state is set.
bool hasBit(const witness::Record& record, std::uint32_t bit);

inline Nanoseconds ns(std::uint64_t time) {
    return static_cast<Nanoseconds>(time);
}

std::vector<ProcessLifetime> gatherLifetimes(const WitnessFile& witness,
                                             const std::vector<Member>& members);

} // namespace heapwright::runner
