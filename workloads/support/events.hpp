// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The events of a counting library of ours, if that is what is preloaded: how often it took a lock,
// and so on, between two moments. Other allocators have no such symbol.
#pragma once

#include <heapwright/c/events.h>

namespace heapwright::workloads {

class Text;

class Events {
public:
    /// From now on.
    Events();
    /// Until now.
    void stop();
    /// The key `events`, if the allocator counts any.
    void describe(Text& text) const;

private:
    using Read = void (*)(heapwright_event_counts*);

    Read read_;
    heapwright_event_counts before_{};
    heapwright_event_counts after_{};
};

} // namespace heapwright::workloads
