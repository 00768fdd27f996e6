// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What is known of a trace apart from its events.
#include "profiler/provenance.hpp"

#include <algorithm>
#include <ctime>

namespace heapwright::profiler {
namespace {

constexpr std::size_t mostFaults = 100;

/// UTC, ISO 8601, to the second; empty where there is no such time.
std::string when(std::uint64_t nanosecondsSince1970) {
    const auto seconds = static_cast<std::time_t>(nanosecondsSince1970 / 1'000'000'000);
    std::tm parts{};
    char text[40];
    if (nanosecondsSince1970 == 0 || gmtime_r(&seconds, &parts) == nullptr ||
        std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &parts) == 0)
        return {};
    return text;
}

void writeCommand(Json& json, const trace::ProcessInfo& process) {
    json.key("command").beginArray();
    if (process.arguments.empty() && !process.executable.empty())
        json.value(std::string_view(process.executable));
    for (const std::string& word : process.arguments)
        json.value(std::string_view(word));
    json.endArray();
}

void writeProcesses(Json& json, const trace::Trace& trace) {
    json.key("processes").beginArray();
    for (const trace::ProcessInfo& process : trace.processes()) {
        std::uint64_t events = 0;
        std::uint64_t last = process.start;
        for (const trace::ThreadInfo& thread : trace.threads()) {
            if (thread.process != process.process)
                continue;
            events += thread.events;
            last = std::max(last, thread.lastTime);
        }
        json.beginObject().field("process", process.process).field("pid", process.pid);
        json.key("parent");
        process.parent == trace::noProcess ? json.null() : json.value(process.parent);
        json.field("cause", name(process.cause));
        writeCommand(json, process);
        json.field("events", events).secondsField("started_s", process.start);
        json.secondsField("ended_s", process.end != 0 ? process.end : last).endObject();
    }
    json.endArray();
}

void writeFaults(Json& json, const trace::Trace& trace) {
    const auto& faults = trace.faults();
    const std::size_t written = std::min(faults.size(), mostFaults);
    json.key("faults").beginArray();
    for (std::size_t at = 0; at < written; ++at)
        json.beginObject()
            .field("offset", faults[at].offset)
            .field("what", std::string_view(faults[at].what))
            .endObject();
    json.endArray().field("faults_omitted", trace.faultCount() - written);
}

} // namespace

Plan planOf(const trace::Trace& trace, std::uint32_t selected) {
    Plan plan;
    plan.threads = trace.threads().size();
    for (const trace::ProcessInfo& process : trace.processes())
        plan.processes.push_back({0, process.end, process.parent == trace::noProcess,
                                  process.cause == trace::Cause::fork});
    for (const trace::ThreadInfo& thread : trace.threads()) {
        if (selected != trace::Selection::all && thread.process != selected)
            continue;
        if (thread.process >= plan.processes.size())
            plan.processes.resize(thread.process + std::size_t{1});
        plan.processes[thread.process].events += thread.events;
        plan.events += thread.events;
    }
    for (const trace::BlockInfo& block : trace.blocks()) {
        if (block.sealed)
            plan.duration = std::max(plan.duration, trace.nanoseconds(block.lastTicks));
        plan.stacks = plan.stacks || block.stackBits != 0;
    }
    return plan;
}

void writeProvenance(Json& json, const trace::Trace& trace, std::uint32_t selected,
                     const Profiler& profiler) {
    const trace::FileHeader& header = trace.header();
    std::uint64_t lost = 0;
    for (const trace::ThreadInfo& thread : trace.threads())
        lost += thread.lost;
    const std::uint64_t first = profiler.counts().firstTime;
    const std::uint64_t last = profiler.state().time;
    json.beginObject();
    const bool all = selected == trace::Selection::all;
    const std::size_t whose = all ? 0 : selected;
    if (whose >= trace.processes().size())
        json.key("command").beginArray().endArray();
    else
        writeCommand(json, trace.processes()[whose]);
    json.key("selected");
    all ? json.null() : json.value(selected);
    json.field("closed", header.closed != 0).field("stopped", name(header.stop));
    json.field("began", std::string_view(when(header.startUtc)));
    json.secondsField("duration_s", last > first ? last - first : 0);
    json.field("events", profiler.state().operations);
    json.field("lost", std::max(lost, header.lostEvents));
    json.field("sampled", std::max<std::uint64_t>(1, header.sampleInterval));
    json.field("stacks", trace.has(trace::flag::stacks));
    writeProcesses(json, trace);
    writeFaults(json, trace);
    json.endObject();
}

} // namespace heapwright::profiler
