// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cinttypes>
#include <heapwright/core/json.hpp>

#include "trace/accounts.hpp"
#include "trace/decoder.hpp"
#include "trace/program/program.hpp"

namespace heapwright::trace {

namespace {

const char* text(bool value) {
    return value ? "true" : "false";
}

void printFaults(const Trace& trace, std::FILE* out) {
    std::fprintf(out, "\"fault_count\": %" PRIu64 ", \"faults\": [", trace.faultCount());
    const char* comma = "";
    for (const Fault& fault : trace.faults()) {
        std::fprintf(out, "%s{\"offset\": %" PRIu64 ", \"what\": %s}", comma, fault.offset,
                     jsonText(fault.what).c_str());
        comma = ", ";
    }
    std::fputs("]", out);
}

void printProcess(const ProcessInfo& process, std::FILE* out) {
    std::fprintf(out, "{\"process\": %u, \"parent\": ", process.process);
    if (process.parent == noProcess)
        std::fputs("null", out);
    else
        std::fprintf(out, "%u", process.parent);
    std::fprintf(out, ", \"pid\": %u, \"cause\": \"%s\", \"start_ns\": %" PRIu64 ", \"end_ns\": ",
                 process.pid, name(process.cause), process.start);
    if (process.end == 0)
        std::fputs("null", out);
    else
        std::fprintf(out, "%" PRIu64, process.end);
    std::fprintf(out, ", \"replaced\": %s, \"executable\": %s, \"arguments\": [",
                 text(process.replaced), jsonText(process.executable).c_str());
    const char* comma = "";
    for (const std::string& argument : process.arguments) {
        std::fprintf(out, "%s%s", comma, jsonText(argument).c_str());
        comma = ", ";
    }
    std::fputs("]}", out);
}

void printThread(const ThreadInfo& thread, std::FILE* out) {
    std::fprintf(out,
                 "{\"thread\": %u, \"process\": %u, \"tid\": %u, \"events\": %" PRIu64
                 ", \"lost\": %" PRIu64 ", \"clock_backwards\": %" PRIu64 ", \"first_ns\": %" PRIu64
                 ", \"last_ns\": %" PRIu64 ", \"ended\": %s}",
                 thread.thread, thread.process, thread.threadId, thread.events, thread.lost,
                 thread.backwards, thread.firstTime, thread.lastTime, text(thread.ended));
}

void printHeader(const Trace& trace, std::FILE* out) {
    static const char* const clocks[] = {"monotonic", "timestamp", "counted"};
    const FileHeader& header = trace.header();
    const auto clock = static_cast<std::uint32_t>(header.clock);
    std::fprintf(out,
                 "\"version\": %u, \"bytes\": %" PRIu64 ", \"closed\": %s, \"stop\": \"%s\", "
                 "\"clock\": \"%s\", \"ticks_per_second\": %" PRIu64 ", \"start_utc_ns\": %" PRIu64
                 ", ",
                 header.version, trace.size(), text(header.closed != 0), name(header.stop),
                 clock < 3 ? clocks[clock] : "unknown", header.ticksPerSecond, header.startUtc);
    std::fprintf(out,
                 "\"stacks\": %s, \"sample_interval\": %" PRIu64 ", \"imported\": %s, "
                 "\"generated\": %s, \"invented_addresses\": %s, \"followed\": %s, "
                 "\"lost\": %" PRIu64 ", \"unfollowed\": %u, ",
                 text(trace.has(flag::stacks)), header.sampleInterval,
                 text(trace.has(flag::imported)), text(trace.has(flag::generated)),
                 text(trace.has(flag::noAddresses)), text(trace.has(flag::followed)),
                 header.lostEvents, header.unfollowed);
}

void printAccount(const Account& account, std::FILE* out) {
    const ProcessAccount& fields = account.fields;
    const auto has = [&fields](std::uint32_t flag) { return text((fields.flags & flag) != 0); };
    std::fprintf(out,
                 "{\"pid\": %u, \"parent_pid\": %u, \"executable\": %s, \"provider\": %s, "
                 "\"count\": %u, \"cpu_ns\": %" PRIu64 ", \"peak_bytes\": %" PRIu64
                 ", \"witnessed\": %s, \"recorded\": %s, \"served\": %s}",
                 fields.pid, fields.parentPid, jsonText(account.executable).c_str(),
                 jsonText(account.provider).c_str(), fields.count, fields.cpuNs, fields.peakBytes,
                 has(account::witnessed), has(account::recorded), has(account::served));
}

void printAccounts(const Trace& trace, std::FILE* out) {
    const Accounts accounts = readAccounts(trace);
    if (!accounts.present) {
        std::fputs("\"accounts\": null, ", out);
        return;
    }
    std::fprintf(out,
                 "\"accounts\": {\"cpu_ns\": %" PRIu64 ", \"allowance_ns\": %" PRIu64
                 ", \"settings\": %s, \"processes\": [",
                 accounts.totals.cpuNs, accounts.totals.allowanceNs,
                 jsonText(accounts.settings).c_str());
    const char* comma = "";
    for (const Account& account : accounts.processes) {
        std::fputs(comma, out);
        printAccount(account, out);
        comma = ", ";
    }
    std::fputs("]}, ", out);
}

void printMarks(const Trace& trace, std::FILE* out) {
    constexpr std::size_t most = 1000;
    std::fprintf(out, "\"mark_count\": %zu, \"marks\": [", trace.marks().size());
    const char* comma = "";
    for (std::size_t at = 0; at < std::min(trace.marks().size(), most); ++at) {
        const MarkInfo& mark = trace.marks()[at];
        std::fprintf(out,
                     "%s{\"name\": %s, \"time_ns\": %" PRIu64 ", \"process\": %u, \"signal\": %u}",
                     comma, jsonText(mark.name).c_str(), mark.time, mark.process, mark.signal);
        comma = ", ";
    }
    std::fputs("], ", out);
}

/// The number of blocks that are still open. Their events are not counted.
std::uint64_t openBlocks(const Trace& trace) {
    std::uint64_t count = 0;
    for (const BlockInfo& block : trace.blocks())
        count += block.kind == BlockKind::events && !block.sealed ? 1 : 0;
    return count;
}

} // namespace

void printInfo(const Trace& trace, std::FILE* out) {
    std::fputs("{", out);
    printHeader(trace, out);
    std::fprintf(out, "\"events\": %" PRIu64 ", \"open_blocks\": %" PRIu64 ", \"blocks\": %zu, ",
                 trace.events(), openBlocks(trace), trace.blocks().size());
    std::fputs("\"processes\": [", out);
    const char* comma = "";
    for (const ProcessInfo& process : trace.processes()) {
        std::fputs(comma, out);
        printProcess(process, out);
        comma = ", ";
    }
    std::fputs("], \"threads\": [", out);
    comma = "";
    for (const ThreadInfo& thread : trace.threads()) {
        std::fputs(comma, out);
        printThread(thread, out);
        comma = ", ";
    }
    std::fputs("], ", out);
    printMarks(trace, out);
    printAccounts(trace, out);
    printFaults(trace, out);
    std::fputs("}\n", out);
}

bool printCheck(const Trace& trace, std::FILE* out) {
    std::uint64_t events = 0;
    std::uint64_t held = 0;
    for (const ThreadInfo& thread : trace.threads()) {
        ThreadEvents decoded(trace, thread.thread);
        Event event;
        while (decoded.next(event))
            ++events;
        held += decoded.held();
    }
    std::uint64_t records = 0;
    for (const BlockKind kind : {BlockKind::modules, BlockKind::stacks, BlockKind::system})
        records += trace.records(kind).size();
    std::fprintf(out,
                 "{\"events\": %" PRIu64 ", \"records\": %" PRIu64 ", \"bytes\": %" PRIu64
                 ", \"closed\": %s, \"held\": %" PRIu64 ", ",
                 events, records, trace.size(), text(trace.header().closed != 0), held);
    printFaults(trace, out);
    std::fputs("}\n", out);
    return trace.faultCount() == 0;
}

} // namespace heapwright::trace
