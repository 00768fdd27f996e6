// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See result.hpp.
#include "result.hpp"

#include "accounts.hpp"
#include "json.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>

namespace heapwright::runner {

namespace {

const char* name(Ending ending) {
    switch (ending) {
    case Ending::exited:
        return "exited";
    case Ending::replaced:
        return "replaced";
    case Ending::killed:
        return "killed";
    case Ending::endedByHarness:
        return "ended-by-harness";
    case Ending::vanished:
        return "vanished";
    case Ending::unknown:
        break;
    }
    return "unknown";
}

void text(Json& json, const char* key, const std::string& value) {
    json.key(key);
    value.empty() ? json.null() : json.value(value);
}

void writeAccount(Json& json, const Account& account) {
    json.open('{');
    json.key("pid").value(account.pid).key("ppid").value(account.parent);
    json.key("exe").value(account.exe);
    text(json, "provider", account.provider);
    json.key("provider_is_libc").value(account.providerIsLibc);
    json.key("cpu_s").value(toSeconds(account.cpu)).key("cpu_exact").value(account.exact);
    json.key("peak_rss_bytes");
    account.peakBytes ? json.value(*account.peakBytes) : json.null();
    json.key("witnessed").value(account.witnessed);
    json.key("ending").value(name(account.ending));
    json.key("signal");
    account.signal != 0 ? json.value(account.signal) : json.null();
    json.key("count").value(account.count);
    json.close('}');
}

void writeEnd(Json& json, const Measurement& measurement, bool started) {
    const int status = measurement.waitStatus();
    json.key("exit_status");
    started&& WIFEXITED(status) ? json.value(WEXITSTATUS(status)) : json.null();
    json.key("signal");
    started&& WIFSIGNALED(status) ? json.value(WTERMSIG(status)) : json.null();
    json.key("timed_out").value(measurement.timedOut());
    json.key("interrupted").value(measurement.interrupted());
    const Spawned& spawned = measurement.spawned();
    const std::string reason =
        started ? "" : std::string(spawned.step) + ": " + std::strerror(spawned.error);
    text(json, "spawn_error", reason);
}

void writeUsage(Json& json, const Measurement& measurement) {
    const Usage& usage = measurement.usage();
    json.key("wall_s").value(toSeconds(measurement.wall()));
    json.key("user_s").value(toSeconds(usage.user)).key("sys_s").value(toSeconds(usage.system));
    json.key("minor_faults").value(usage.minorFaults).key("major_faults").value(usage.majorFaults);
    json.key("voluntary_switches").value(usage.voluntarySwitches);
    json.key("involuntary_switches").value(usage.involuntarySwitches);
}

void writeMemory(Json& json, const Measurement& measurement, const Accounts& accounts) {
    const std::int64_t single = std::max(measurement.usage().peakBytes, accounts.peakBytes);
    json.key("peak_rss_bytes").value(std::max(single, measurement.treePeakBytes()));
    char method[256];
    std::snprintf(
        method, sizeof method,
        "%s; the larger of the kernel's peak of one process (exact, %lld bytes) and the "
        "sum over the tree (sampled every %.0f ms in the mean, shared pages once per process)",
        single >= measurement.treePeakBytes() ? "one process" : "sum over the tree",
        static_cast<long long>(single), toSeconds(measurement.meanGap()) * 1000);
    json.key("peak_rss_method").value(method);
    json.key("rss_series").open('[');
    for (const Series::Point& point : measurement.series().points()) {
        json.open('[').value(toSeconds(point.time)).value(point.bytes).close(']');
    }
    json.close(']');
}

void writeProcesses(Json& json, const Measurement& measurement, const WitnessFile& witness,
                    Accounts accounts) {
    const Nanoseconds total = measurement.usage().user + measurement.usage().system;
    json.key("unaccounted_cpu_s")
        .value(toSeconds(std::max<Nanoseconds>(total - accounts.known, 0)));
    json.key("teardown_allowance_s").value(toSeconds(accounts.allowance));
    json.key("leftover_processes").value(measurement.leftover());
    json.key("unrecorded_processes").value(static_cast<std::int64_t>(witness.lost()));
    json.key("processes").open('[');
    for (const Account& account : folded(std::move(accounts.list))) {
        writeAccount(json, account);
    }
    json.close(']');
}

} // namespace

std::string resultJson(const Measurement& measurement, const WitnessFile& witness,
                       const Counters& counters, const HostConditions& hostConditions) {
    const bool started = measurement.spawned().step == nullptr;
    Json json;
    json.open('{');
    writeEnd(json, measurement, started);
    if (started) {
        Accounts accounts = settle(witness, measurement.tree().members(), measurement.longestGap());
        writeUsage(json, measurement);
        writeMemory(json, measurement, accounts);
        writeProcesses(json, measurement, witness, std::move(accounts));
        json.key("counters").open('{');
        for (const Counters::Value& counter : counters.read()) {
            json.key(counter.name).value(counter.count);
        }
        json.close('}');
    }
    json.key("stderr_tail").value(measurement.errorTail());
    json.key("oom_kills").value(hostConditions.oomKills());
    json.key("load_before").value(hostConditions.loadBefore());
    json.key("runnable_before").value(hostConditions.runnableBefore());
    json.key("steal_s").value(hostConditions.stealSeconds());
    json.key("harness_cpu_s").value(toSeconds(ownCpuNs()));
    return json.close('}').text() + "\n";
}

} // namespace heapwright::runner
