// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The sampler in front of any allocator: it samples each process into which it is loaded, and finds
// the next allocator.
#include "recorder/next.hpp"
#include "recorder/operator_fallback.hpp"
#include "sampling.hpp"

namespace heapwright::sampler {

bool isSampled() noexcept {
    return true;
}

void prepareLibrary(Settings& /*settings*/) noexcept {
    samples.alwaysHold(recorder::Arena::begin(), recorder::Arena::capacity);
    recorder::findNext();
}

void startLibrary() noexcept {
    recorder::findOperatorOwner();
}

} // namespace heapwright::sampler
