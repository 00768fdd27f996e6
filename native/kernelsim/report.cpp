// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "kernelsim/report.hpp"

#include <algorithm>
#include <numeric>

namespace heapwright::kernelsim {

namespace {

std::uint64_t sumOf(const Counts::ByProcessor& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void tellSamples(Json& json, const std::vector<Sample>& samples) {
    json.key("samples").beginArray();
    for (const Sample& each : samples) {
        json.beginObject()
            .secondsField("at", each.time)
            .field("slab_pages", each.slabPages)
            .field("other_pages", each.otherPages)
            .field("free_pages", each.freePages)
            .field("live_bytes", each.liveBytes)
            .field("fragmentation_events", each.fallbacks)
            .field("unusable", each.unusable);
        json.key("recorded");
        if (each.recorded)
            json.beginObject()
                .field("slab_pages", each.recorded->slabPages)
                .field("fragmentation_events", each.recorded->fallbacks)
                .endObject();
        else
            json.null();
        json.endObject();
    }
    json.endArray();
}

void tellCaches(Json& json, const std::vector<CacheLine>& caches) {
    json.key("caches").beginArray();
    for (const CacheLine& each : caches)
        json.beginObject()
            .field("name", std::string_view(each.name))
            .field("size", each.size)
            .field("stride", each.stride)
            .field("live", each.live)
            .field("objects", each.objects)
            .field("slabs", each.slabs)
            .field("pages", each.pages)
            .field("remote_frees", each.remoteFrees)
            .endObject();
    json.endArray();
}

void tellIndex(Json& json, std::string_view name, const std::array<int, pageOrders>& index) {
    json.key(name).beginArray();
    for (const int each : index)
        json.value(static_cast<double>(each) / 1000);
    json.endArray();
}

void tellFragmentation(Json& json, const Outcome& outcome) {
    json.key("fragmentation").beginObject();
    json.field("events", outcome.fallbacks.total()).field("claimed", outcome.fallbacks.claimed);
    json.key("by_order").beginArray();
    for (const auto& row : outcome.fallbacks.events) {
        json.beginArray();
        for (const std::uint64_t count : row)
            json.value(count);
        json.endArray();
    }
    json.endArray();
    tellIndex(json, "unusable", outcome.unusable);
    tellIndex(json, "index", outcome.fragmentation);
    json.key("mean_unusable").beginArray();
    for (const std::uint64_t each : outcome.meanUnusable)
        json.value(static_cast<double>(each) / 1000);
    json.endArray();
    json.endObject();
}

void tellByProcessor(Json& json, std::string_view name, const Counts::ByProcessor& counts,
                     std::size_t processors) {
    json.key(name).beginArray();
    for (std::size_t each = 0; each < processors; ++each)
        json.value(counts[each]);
    json.endArray();
}

void tellCounts(Json& json, const std::optional<Counts>& counts, std::size_t processors) {
    json.key("counts");
    if (!counts) {
        json.null();
        return;
    }
    json.beginObject();
    tellByProcessor(json, "instructions", counts->instructions, processors);
    tellByProcessor(json, "transfers", counts->transfers, processors);
    json.field("instructions_in_all", sumOf(counts->instructions))
        .field("transfers_in_all", sumOf(counts->transfers))
        .field("user_transfers", counts->userTransfers)
        .field("invalidations", counts->invalidations)
        .field("own_lock_takes", counts->ownLockTakes)
        .field("lock_takes", counts->lockTakes)
        .field("hand_overs", counts->handOvers)
        .field("under_one_lock", counts->underOneLock)
        .field("path", counts->path)
        .field("time", counts->time)
        .endObject();
}

} // namespace

void tellTraffic(Json& json, const Traffic& traffic) {
    json.field("kernel", std::string_view(traffic.kernel))
        .field("processors", std::uint64_t{traffic.processors})
        .field("memory_pages", traffic.memory * 256)
        .field("events", std::uint64_t{traffic.events.size()})
        .field("prelude", std::uint64_t{traffic.prelude})
        .secondsField("lasts", traffic.events.empty() ? 0 : traffic.events.back().time);
}

void tellOutcome(Json& json, std::string_view model, const Outcome& outcome,
                 const std::vector<std::uint64_t>& times, std::size_t processors) {
    json.beginObject().field("model", model);
    json.secondsField("seconds", *std::min_element(times.begin(), times.end()));
    json.key("rounds").beginArray();
    for (const std::uint64_t time : times)
        json.seconds(time);
    json.endArray();
    json.field("takes", outcome.takes)
        .field("gives", outcome.gives)
        .field("remote_frees", outcome.remoteGives)
        .field("block_takes", outcome.blockTakes)
        .field("refused", outcome.refused)
        .field("dropped", outcome.dropped);
    json.key("slab_pages")
        .beginObject()
        .field("mean", outcome.meanSlabPages)
        .field("peak", outcome.mostSlabPages)
        .field("end", outcome.endSlabPages)
        .field("kept", outcome.keptPages)
        .field("of_caches", outcome.cachePages)
        .field("filled", static_cast<double>(outcome.meanFilled) / 1000)
        .endObject();
    json.field("slabs_taken", outcome.slabsTaken).field("slabs_given", outcome.slabsGiven);
    tellFragmentation(json, outcome);
    tellCounts(json, outcome.counts, processors);
    tellCaches(json, outcome.caches);
    tellSamples(json, outcome.samples);
    json.endObject();
}

} // namespace heapwright::kernelsim
