// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Brings the three sources on a process together into one life: the records of the program images
// that it went through, what its parent learnt when it waited for it, and what was seen of it from
// outside. The pid joins them, time and the CPU clock keep apart the processes that had the same
// pid in turn.
#pragma once

#include "tree.hpp"
#include "witness_file.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heapwright::runner {

struct Life {
    pid_t pid = 0;
    pid_t parent = 0;
    std::vector<const witness::Record*> images; ///< empty: it never reported
    const witness::Reaped* reaped = nullptr;    ///< null: nobody said that he waited for it
    const Member* member = nullptr;             ///< null: never met by the sampler
    std::vector<std::size_t> children;          ///< indices of lives

    Nanoseconds begin() const;
    Nanoseconds end() const; ///< 0 when it is not known
    bool left() const;       ///< the last image came to its exit
};

/// Tells a bit of a record's state.
bool has(const witness::Record& record, std::uint32_t bit);

inline Nanoseconds ns(std::uint64_t time) {
    return static_cast<Nanoseconds>(time);
}

std::vector<Life> gatherLives(const WitnessFile& witness, const std::vector<Member>& members);

} // namespace heapwright::runner
