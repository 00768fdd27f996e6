// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds a thread that can be made to call a function, and whether any thread is inside the agent.
#pragma once

#include "target.hpp"
#include "thread.hpp"

#include <optional>
#include <string>

namespace heapwright::attach {

/// A stopped thread, a waiting one if there is one, that is outside of the unsafe code, on an
/// ordinary stack with enough room. Tries for three seconds. Throws Refusal with the most frequent
/// reason, Denial or Ended.
Thread safeThread(const Target& target);

/// Whether no thread is inside `code`, nor will return there. Stops all threads for this. A thread
/// in a handler of a signal counts as inside, because it may have been interrupted there. Adds the
/// time for which the threads were stopped to `stopped`.
bool allOutside(const Target& target, const Range& code, Clock::duration& stopped);

/// Whether the process holds one of these addresses in its memory. Pages are read while it runs.
bool holdsAny(const Target& target, const std::vector<Address>& words, const Range& without);

} // namespace heapwright::attach
