// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-count: runs a command under valgrind's tracer, reads the trace while it is written,
// and writes the allocator's account as one JSON object. The trace is not kept. Exit status: 0 if
// the object was written, 2 for invalid arguments. If a limit ended the command, the object names
// it in `limit` and contains the counts until then.
#include "account.hpp"
#include "options.hpp"

#include "valgrind/lackey/result.hpp"

#include <chrono>
#include <unistd.h>

namespace {

using namespace heapwright::valgrind;
using heapwright::Json;
using Clock = std::chrono::steady_clock;

void describe(Json& json, const Account& account) {
    const Counted& counted = account.counted();
    const Lines::Total lines = account.lines();
    json.field("marked", account.marked());
    json.field("traced", account.traced());
    json.field("provider", account.provider());
    json.field("words", account.words());
    json.field("calls", counted.calls);
    json.field("idle_calls", counted.idle);
    json.field("threads", counted.threads);
    json.field("instructions", counted.instructions);
    json.field("lock_prefixed", counted.prefixed);
    json.field("exchanges", counted.exchanges);
    json.field("unknown_instructions", counted.unknown);
    json.field("misread_lines", counted.misread);
    json.field("metadata_lines", lines.lines);
    json.field("shared_metadata_lines", lines.shared);
    json.field("writes_to_shared_lines", lines.sharedWrites);
}

int countCommand(const Options& options) {
    const auto begin = Clock::now();
    Child child;
    std::string reason;
    Json json;
    json.beginObject();
    if (!child.start(options.command, nullptr, reason)) {
        json.field("spawn_error", "valgrind: " + reason).endObject();
        return writeResult(programText, options, json);
    }
    Account account(child.pid());
    Reader reader(child.log());
    const char* const limit =
        follow(child, reader, account, {options.seconds, options.traceBytes}, interrupted);
    if (limit == nullptr) {
        // The log may end before the process does.
        const auto patience = Clock::now() + std::chrono::seconds(10);
        while (!child.ended() && Clock::now() < patience) {
            usleep(1000);
        }
    }
    const bool itself = child.ended();
    child.end();
    json.key("limit");
    limit != nullptr ? json.value(limit) : itself ? json.null() : json.value("time");
    writeStatus(json, child, itself);
    json.field("seconds", std::chrono::duration<double>(Clock::now() - begin).count());
    json.field("trace_bytes", reader.bytes());
    describe(json, account);
    json.endObject();
    return writeResult(programText, options, json);
}

int countLog(const Options& options) {
    Account account(0);
    if (!readLog(programText, options, account)) {
        return 2;
    }
    Json json;
    json.beginObject();
    describe(json, account);
    json.endObject();
    return writeResult(programText, options, json);
}

} // namespace

int main(int count, char** arguments) {
    const auto options = parseOptions(count, arguments);
    if (!options) {
        return 2;
    }
    prepareProcess(*options);
    return options->trace != nullptr ? countLog(*options) : countCommand(*options);
}
