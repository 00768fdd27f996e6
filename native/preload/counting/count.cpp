// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The counter of a counting library. It is linked into each of them beside the library's own file.
#include <heapwright/c/events.h>
#include <heapwright/sync/event_counts.hpp>

namespace heapwright {
namespace {

constinit EventCounts counts;

} // namespace

void countEvent(Event event, const volatile void* address) noexcept {
    counts.add(event, address);
}

} // namespace heapwright

extern "C" [[gnu::visibility("default")]] void heapwright_events(heapwright_event_counts* events) {
    const heapwright::EventTotals totals = heapwright::counts.totals();
    events->lock_takes = totals.lockTakes;
    events->lock_waits = totals.lockWaits;
    events->atomic_operations = totals.atomicOperations;
    events->hand_overs = totals.handOvers;
    events->written_lines = totals.writtenLines;
    events->shared_lines = totals.sharedLines;
    events->writes_to_shared_lines = totals.writesToSharedLines;
    events->unknown = totals.unknown;
    events->lock_hand_overs = totals.lockHandOvers;
}
