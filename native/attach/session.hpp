// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads the recorder into a running process, and removes it again.
#pragma once

#include "safety.hpp"
#include "target.hpp"

#include <string>

namespace heapwright::attach {

struct Begun {
    unsigned slots = 0;           ///< redirected entries of import tables
    Clock::duration stopped = {}; ///< the time for which one thread was stopped
};

/// Loads the agent from `library`, and lets it record into `trace`. Throws Refusal, Denial or
/// Ended, and std::runtime_error if a call does not return in time.
Begun begin(const Target& target, const std::string& library, const std::string& trace);

struct Removed {
    std::string left; ///< why something is left in the process; empty if nothing is
    Clock::duration stopped = {};
};

/// Restores the import tables, waits until no thread is inside the agent, and unloads it. Throws
/// as `begin` does.
/// Pre: the agent is loaded.
Removed remove(const Target& target);

} // namespace heapwright::attach
