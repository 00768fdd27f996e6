// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Stretches of the operations, summed.
#include "profiler/phases.hpp"

namespace heapwright::profiler {

void Phases::Cell::absorb(const Cell& next) {
    allocations += next.allocations;
    bytes += next.bytes;
    ends += next.ends;
    longLived += next.longLived;
    handedOver += next.handedOver;
    if (next.last.operations != 0)
        last = next.last;
}

void Phases::write(Json& json) const {
    json.beginArray();
    for (const Cell& cell : steps_.cells()) {
        json.beginObject().field("operation", cell.last.operations);
        json.secondsField("time_s", cell.last.time).field("allocations", cell.allocations);
        json.field("bytes", cell.bytes).field("frees", cell.ends);
        json.field("long_lived", cell.longLived).field("handed_over", cell.handedOver);
        json.field("live_bytes", cell.last.bytes).field("live_objects", cell.last.objects);
        json.endObject();
    }
    json.endArray();
}

} // namespace heapwright::profiler
