// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The work of a gap between two calls: a loop of dependent multiplications that touches no memory.
// `prepare` measures the iterations of a millisecond once. All runs of a plan then carry out the
// same number of instructions, also if the machine has become slower.
#pragma once

#include <cstdint>

namespace heapwright::replayer {

/// Carries out that many iterations, each of the same few instructions.
void compute(std::uint64_t iterations);

/// The iterations in a millisecond of processor time, from the fastest of several trials.
/// Post: at least 1.
std::uint64_t measureIterationsPerMillisecond();

} // namespace heapwright::replayer
