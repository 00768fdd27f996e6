// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the pass has found, as the document says it.
#include "profiler/profiler.hpp"

namespace heapwright::profiler {
namespace {

using trace::Family;
using trace::Routine;

constexpr std::size_t routines = 32;

Routine routineOf(std::size_t number) {
    return static_cast<Routine>(number);
}

bool isNamed(std::size_t number) {
    return trace::isRoutine(static_cast<unsigned>(number));
}

} // namespace

void Profiler::write(Json& json) const {
    json.key("totals");
    writeTotals(json);
    json.key("sizes").beginObject();
    sizes_.write(json, counts_.allocations);
    json.key("over_time");
    timeline_.writeSizes(json);
    json.endObject().key("routines");
    writeRoutines(json);
    json.key("retention").beginObject();
    retention_.write(json, counts_.allocations);
    json.endObject().key("pattern");
    pattern_.write(json, state_.operations);
    writePeak(json);
    json.key("timeline");
    timeline_.write(json, counts_.usableKnown);
    json.key("threads");
    threads_.write(json);
    json.key("cross_thread_frees");
    threads_.writePairs(json, counts_.ended);
    json.key("heap_map");
    heapMap_.write(json);
    json.key("lifetimes_by_size");
    retention_.writeBySize(json);
    json.key("phases");
    phases_.write(json);
    json.key("system");
    system_ != nullptr ? system_->write(json) : static_cast<void>(json.null());
}

void Profiler::writeTotals(Json& json) const {
    const auto& all = counts_;
    json.beginObject().field("allocations", all.allocations).field("bytes", all.bytes);
    json.field("mean_bytes", share(all.bytes, all.allocations));
    json.field("frees", all.frees).field("null_frees", all.nullFrees);
    json.field("null_free_share", share(all.nullFrees, all.frees));
    json.field("freed_by_realloc", all.freedByRealloc);
    json.field("never_freed", all.neverFreed).field("never_freed_bytes", all.neverFreedBytes);
    json.field("failed", all.failed).field("unknown_frees", all.unknownFrees);
    json.field("inherited_frees", all.inheritedFrees).field("overwritten", all.overwritten);
    json.field("temporary", all.temporary);
    json.field("freed_bytes", all.endedBytes).field("growth_bytes", all.growth).endObject();
}

void Profiler::writeRoutines(Json& json) const {
    json.beginObject();
    for (const Family family : {Family::malloc, Family::calloc, Family::realloc, Family::aligned}) {
        std::uint64_t allocations = 0;
        std::uint64_t bytes = 0;
        for (std::size_t number = 0; number < routines; ++number) {
            if (!isNamed(number) || trace::family(routineOf(number)) != family)
                continue;
            allocations += counts_.routines[number].allocations;
            bytes += counts_.routines[number].allocated;
        }
        json.key(trace::name(family)).beginObject().field("count", allocations);
        json.field("share", share(allocations, counts_.allocations));
        json.field("bytes", bytes).endObject();
    }
    json.key("detail");
    writeDetail(json);
    json.key("reallocs").beginObject().field("of_null", counts_.reallocOfNull);
    json.field("grown_in_place", counts_.grownInPlace).field("moved", counts_.moved);
    json.field("shrunk_in_place", counts_.shrunkInPlace).field("freed", counts_.freedByRealloc);
    json.field("failed", counts_.reallocFailed).endObject().endObject();
}

void Profiler::writeDetail(Json& json) const {
    json.beginObject();
    for (std::size_t number = 0; number < routines; ++number) {
        const RoutineCounts& counts = counts_.routines[number];
        if (!isNamed(number) || counts.calls == 0)
            continue;
        json.key(trace::name(routineOf(number))).beginObject().field("calls", counts.calls);
        json.field("bytes", counts.bytes).field("failed", counts.failed).endObject();
    }
    json.endObject();
}

void Profiler::writePeak(Json& json) const {
    const LiveState& peak = timeline_.peak();
    json.field("peak_live_bytes", peak.bytes).field("peak_live_objects", counts_.mostObjects);
    json.key("peak").beginObject().secondsField("time_s", peak.time);
    json.field("operation", peak.operations).field("live_bytes", peak.bytes);
    json.field("live_objects", peak.objects).key("usable_bytes");
    counts_.usableKnown ? json.value(peak.usable) : json.null();
    json.endObject();
}

} // namespace heapwright::profiler
