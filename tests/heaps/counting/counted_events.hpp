// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What has happened between two moments of a test: in this executable everything is counted.
#pragma once

#include <heapwright/sync/event_counts.hpp>

namespace heapwright::testing {

/// All that was counted so far.
EventTotals totalEvents() noexcept;

/// Counts from where it is made.
class CountedEvents {
public:
    CountedEvents() noexcept : before_(totalEvents()) {}

    [[nodiscard]] EventTotals sinceThen() const noexcept {
        const EventTotals now = totalEvents();
        return {
            .lockTakes = now.lockTakes - before_.lockTakes,
            .lockWaits = now.lockWaits - before_.lockWaits,
            .atomicOperations = now.atomicOperations - before_.atomicOperations,
            .handOvers = now.handOvers - before_.handOvers,
            .writtenLines = now.writtenLines - before_.writtenLines,
            .sharedLines = now.sharedLines - before_.sharedLines,
            .writesToSharedLines = now.writesToSharedLines - before_.writesToSharedLines,
            .unknown = now.unknown - before_.unknown,
            .lockHandOvers = now.lockHandOvers - before_.lockHandOvers,
        };
    }

private:
    EventTotals before_;
};

} // namespace heapwright::testing
