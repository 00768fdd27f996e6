// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "counted_events.hpp"

namespace heapwright {
namespace {

constinit EventCounts counts;

} // namespace

void countEvent(Event event, const volatile void* address) noexcept {
    counts.add(event, address);
}

namespace testing {

EventTotals totalEvents() noexcept {
    return counts.totals();
}

} // namespace testing
} // namespace heapwright
