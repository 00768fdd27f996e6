// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See report.hpp. It is put together when everything has been measured, so it may allocate.
#include "report.hpp"

#include "trace/event.hpp"

#include <cstddef>
#include <heapwright/core/json.hpp>
#include <iterator>
#include <string_view>

namespace heapwright::replayer {

namespace {

void addOddities(Json& json, const Oddities& odd) {
    json.key("oddities").beginObject();
    json.field("failed", odd.failed);
    json.field("unknown_frees", odd.unknownFrees);
    json.field("unknown_reallocs", odd.unknownReallocs);
    json.field("overwritten", odd.overwritten);
    json.field("null_frees", odd.nullFrees);
    json.field("never_freed", odd.neverFreed);
    json.field("never_freed_bytes", odd.neverFreedBytes);
    json.endObject();
}

void addBetween(Json& json, const Between& between) {
    constexpr const char* kinds[] = {"work", "allocation", "free", "free_and_allocation"};
    json.key("between").beginObject();
    json.field("recorded_s", 1e-9 * static_cast<double>(between.recorded));
    json.field("work_s", 1e-9 * static_cast<double>(between.worked));
    json.field("longest_ns", between.longest);
    json.key("calls_ns").beginObject();
    for (std::size_t kind = 0; kind < std::size(kinds); ++kind) {
        json.field(kinds[kind], between.calls[kind]);
    }
    json.endObject();
    json.field("iterations_per_ms", between.iterationsPerMillisecond);
    json.field("iterations", between.iterations);
    json.field("visits_per_ms", between.visitsPerMillisecond);
    json.field("visits", between.visits);
    json.field("visited_lines", between.visitedLines);
    json.endObject();
}

void addPlan(Json& json, const PlanHeader& header) {
    json.field("threads", header.threads);
    json.field("process", header.process);
    json.field("events", header.events);
    json.field("hand_overs", header.handOvers);
    if (header.order == Order::bounded) {
        json.field("ahead_bytes", header.threads > 1 ? header.aheadBytes : 0);
    }
    json.field("paced", header.paced != 0);
    json.field("plan_bytes", header.bytes);
    json.field("recorded_s", 1e-9 * static_cast<double>(header.nanoseconds));
    json.field("ideal_bytes", header.peakBytes);
    json.field("ideal_objects", header.peakObjects);
    json.field("ideal_operation", header.peakOperation);
    addOddities(json, header.oddities);
    if (header.between.iterationsPerMillisecond != 0) {
        addBetween(json, header.between);
    }
}

/// The upper ends of the steps that have calls, with these.
void addSteps(Json& json, const AllHistogram& histogram, double nsPerTick) {
    json.key("histogram").beginArray();
    for (std::size_t at = 0; at < AllHistogram::steps; ++at) {
        if (histogram.counts[at] != 0) {
            json.beginArray();
            json.value(nsPerTick * static_cast<double>(AllHistogram::upperEnd(at)));
            json.value(histogram.counts[at]);
            json.endArray();
        }
    }
    json.endArray();
}

void addRoutine(Json& json, std::string_view name, const AllHistogram& histogram,
                double nsPerTick) {
    struct Quantile {
        const char* name;
        double share;
    };
    constexpr Quantile quantiles[] = {{"p50_ns", 0.5},
                                      {"p90_ns", 0.9},
                                      {"p99_ns", 0.99},
                                      {"p99_9_ns", 0.999},
                                      {"p99_99_ns", 0.9999}};
    const std::uint64_t calls = histogram.calls();
    json.key(name).beginObject();
    json.field("calls", calls);
    json.field("mean_ns", nsPerTick * static_cast<double>(histogram.sum) /
                              static_cast<double>(calls == 0 ? 1 : calls));
    for (const Quantile& each : quantiles) {
        json.field(each.name, nsPerTick * static_cast<double>(histogram.quantile(each.share)));
    }
    json.field("max_ns", nsPerTick * static_cast<double>(histogram.most));
    addSteps(json, histogram, nsPerTick);
    json.endObject();
}

void addRoutines(Json& json, const Outcome& outcome) {
    std::uint64_t ticks = 0;
    json.key("routines").beginObject();
    for (unsigned number = 0; number < routines; ++number) {
        const AllHistogram* const histogram = outcome.histograms[number];
        if (outcome.timed && histogram != nullptr && histogram->calls() != 0) {
            addRoutine(json, trace::name(static_cast<trace::Routine>(number)), *histogram,
                       outcome.nanosecondsPerTick);
            ticks += histogram->sum;
        }
    }
    json.endObject();
    if (outcome.timed) {
        json.field("calls_s", 1e-9 * outcome.nanosecondsPerTick * static_cast<double>(ticks));
    }
}

void addCheck(Json& json, const Findings& findings) {
    json.key("violations").beginObject();
    for (std::size_t wrong = 0; wrong < faultKinds; ++wrong) {
        if (findings.count(wrong) != 0) {
            json.field(words[wrong], findings.count(wrong));
        }
    }
    json.endObject();
}

} // namespace

std::string describePlan(const PlanHeader& header) {
    Json json;
    json.beginObject();
    addPlan(json, header);
    return json.endObject().text() + "\n";
}

std::string describeReplay(const PlanHeader& header, const Outcome& outcome, const Check* check) {
    const double secondsPerTick = 1e-9 * outcome.nanosecondsPerTick;
    Json json;
    json.beginObject();
    addPlan(json, header);
    json.field("streamed", outcome.streamed);
    json.field("calls", outcome.calls);
    json.field("failed_calls", outcome.failed);
    json.field("iterations_done", outcome.iterations);
    json.field("lines_visited", outcome.visitedLines);
    json.field("seconds", 1e-9 * static_cast<double>(outcome.nanoseconds));
    json.field("user_s", outcome.userSeconds);
    json.field("sys_s", outcome.systemSeconds);
    json.field("waits", outcome.waits.count);
    json.field("waiting_s", secondsPerTick * static_cast<double>(outcome.waits.ticks));
    json.field("reading_s", secondsPerTick * static_cast<double>(outcome.readingTicks));
    json.field("own_bytes", std::uint64_t{outcome.ownBytes});
    json.field("peak_bytes", std::uint64_t{outcome.peakBytes});
    json.field("peak_heap_bytes", std::uint64_t{outcome.peakBytes > outcome.fileBytes
                                                    ? outcome.peakBytes - outcome.fileBytes
                                                    : 0});
    addRoutines(json, outcome);
    json.field("checked", check != nullptr);
    if (check != nullptr) {
        addCheck(json, check->findings());
    }
    return json.endObject().text() + "\n";
}

} // namespace heapwright::replayer
