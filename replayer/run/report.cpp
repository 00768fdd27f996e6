// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See report.hpp. It is put together when everything has been measured, so it may allocate.
#include "report.hpp"

#include "trace/event.hpp"

#include <cinttypes>
#include <cstdio>

namespace heapwright::replay {

namespace {

/// As much of JSON as is needed here: keys and texts are our own.
class Json {
public:
    Json& open(const char* name, char bracket) {
        key(name);
        text_ += bracket;
        first_ = true;
        return *this;
    }
    Json& close(char bracket) {
        text_ += bracket;
        first_ = false;
        return *this;
    }
    Json& number(const char* name, std::uint64_t value) {
        key(name);
        text_ += std::to_string(value);
        return *this;
    }
    Json& number(const char* name, double value) {
        char digits[40];
        std::snprintf(digits, sizeof digits, "%.9g", value);
        key(name);
        text_ += digits;
        return *this;
    }
    Json& truth(const char* name, bool value) {
        key(name);
        text_ += value ? "true" : "false";
        return *this;
    }
    Json& quoted(const char* name, const std::string& value) {
        key(name);
        text_ += '"' + value + '"';
        return *this;
    }
    std::string take() { return text_ + "\n"; }

private:
    void key(const char* name) {
        if (!first_) {
            text_ += ',';
        }
        first_ = false;
        if (*name != '\0') {
            text_ += '"';
            text_ += name;
            text_ += "\":";
        }
    }

    std::string text_;
    bool first_ = true;
};

void addOddities(Json& json, const Oddities& odd) {
    json.open("oddities", '{');
    json.number("failed", odd.failed);
    json.number("unknown_frees", odd.unknownFrees);
    json.number("unknown_reallocs", odd.unknownReallocs);
    json.number("overwritten", odd.overwritten);
    json.number("null_frees", odd.nullFrees);
    json.number("never_freed", odd.neverFreed);
    json.number("never_freed_bytes", odd.neverFreedBytes);
    json.close('}');
}

void addPlan(Json& json, const PlanHeader& header) {
    json.number("threads", header.threads);
    json.number("process", header.process);
    json.number("events", header.events);
    json.number("hand_overs", header.handOvers);
    json.truth("ordered", header.ordered != 0);
    json.truth("paced", header.paced != 0);
    json.number("plan_bytes", header.bytes);
    json.number("recorded_s", 1e-9 * static_cast<double>(header.nanoseconds));
    json.number("ideal_bytes", header.peakBytes);
    json.number("ideal_objects", header.peakObjects);
    json.number("ideal_operation", header.peakOperation);
    addOddities(json, header.oddities);
}

/// The upper ends of the steps that have calls, with these.
void addSteps(Json& json, const AllHistogram& histogram, double nsPerTick) {
    json.open("histogram", '[');
    for (std::size_t at = 0; at < AllHistogram::steps; ++at) {
        if (histogram.counts[at] != 0) {
            json.open("", '[');
            json.number("", nsPerTick * static_cast<double>(AllHistogram::upperEnd(at)));
            json.number("", histogram.counts[at]);
            json.close(']');
        }
    }
    json.close(']');
}

void addRoutine(Json& json, const char* name, const AllHistogram& histogram, double nsPerTick) {
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
    json.open(name, '{');
    json.number("calls", calls);
    json.number("mean_ns", nsPerTick * static_cast<double>(histogram.sum) /
                               static_cast<double>(calls == 0 ? 1 : calls));
    for (const Quantile& each : quantiles) {
        json.number(each.name, nsPerTick * static_cast<double>(histogram.quantile(each.share)));
    }
    json.number("max_ns", nsPerTick * static_cast<double>(histogram.most));
    addSteps(json, histogram, nsPerTick);
    json.close('}');
}

void addRoutines(Json& json, const Outcome& outcome) {
    std::uint64_t ticks = 0;
    json.open("routines", '{');
    for (unsigned number = 0; number < routines; ++number) {
        const AllHistogram* const histogram = outcome.histograms[number];
        if (outcome.timed && histogram != nullptr && histogram->calls() != 0) {
            const std::string name(trace::name(static_cast<trace::Routine>(number)));
            addRoutine(json, name.c_str(), *histogram, outcome.nanosecondsPerTick);
            ticks += histogram->sum;
        }
    }
    json.close('}');
    if (outcome.timed) {
        json.number("calls_s", 1e-9 * outcome.nanosecondsPerTick * static_cast<double>(ticks));
    }
}

void addCheck(Json& json, const Findings& findings) {
    json.open("violations", '{');
    for (std::size_t wrong = 0; wrong < wrongs; ++wrong) {
        if (findings.count(wrong) != 0) {
            json.number(words[wrong], findings.count(wrong));
        }
    }
    json.close('}');
}

} // namespace

std::string describePlan(const PlanHeader& header) {
    Json json;
    json.open("", '{');
    addPlan(json, header);
    return json.close('}').take();
}

std::string describeReplay(const PlanHeader& header, const Outcome& outcome, const Check* check) {
    const double secondsPerTick = 1e-9 * outcome.nanosecondsPerTick;
    Json json;
    json.open("", '{');
    addPlan(json, header);
    json.truth("streamed", outcome.streamed);
    json.number("calls", outcome.calls);
    json.number("failed_calls", outcome.failed);
    json.number("seconds", 1e-9 * static_cast<double>(outcome.nanoseconds));
    json.number("user_s", outcome.userSeconds);
    json.number("sys_s", outcome.systemSeconds);
    json.number("waits", outcome.waits.count);
    json.number("waiting_s", secondsPerTick * static_cast<double>(outcome.waits.ticks));
    json.number("reading_s", secondsPerTick * static_cast<double>(outcome.readingTicks));
    json.number("own_bytes", std::uint64_t{outcome.ownBytes});
    json.number("peak_bytes", std::uint64_t{outcome.peakBytes});
    json.number("peak_heap_bytes", std::uint64_t{outcome.peakBytes > outcome.fileBytes
                                                     ? outcome.peakBytes - outcome.fileBytes
                                                     : 0});
    addRoutines(json, outcome);
    json.truth("checked", check != nullptr);
    if (check != nullptr) {
        addCheck(json, check->findings());
    }
    return json.close('}').take();
}

} // namespace heapwright::replay
