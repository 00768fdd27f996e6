// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Waiting for a moment: asleep while it is far, awake for the last stretch, which a sleep would
// overshoot.
#pragma once

#include <cstdint>

namespace heapwright::replayer {

/// ns of the monotonic clock.
std::uint64_t now();
void waitUntil(std::uint64_t when);

} // namespace heapwright::replayer
