// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The event counts of a preloaded counting library of Heapwright, such as locks taken, between two
// moments. Other allocators do not have this symbol.
#pragma once

#include <heapwright/c/events.h>

namespace heapwright::workloads {

class Text;

class Events {
public:
    /// Starts counting.
    Events();
    /// Starts again from zero.
    void restart();
    /// Stops counting.
    void stop();
    /// Writes the key `events`, if the allocator counts them.
    void describe(Text& text) const;

private:
    using Read = void (*)(heapwright_event_counts*);

    Read read_;
    heapwright_event_counts before_{};
    heapwright_event_counts after_{};
};

} // namespace heapwright::workloads
