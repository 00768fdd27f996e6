// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-drag: Runs a command under valgrind's tracer and reads the trace while it is written.
// It writes one JSON object with the memory that the command held after its last use. The trace is
// not kept. Exit status: 0 if the object was written, however the command ended; 2 for invalid
// arguments. On a signal, it writes the results until then.
#include "drag/account/report.hpp"
#include "drag/valgrind/observer.hpp"
#include "drag/valgrind/options.hpp"
#include "valgrind/lackey/result.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <unistd.h>

namespace {

using namespace heapwright::drag;
using heapwright::Json;
using heapwright::valgrind::Child;
using heapwright::valgrind::interrupted;
using heapwright::valgrind::prepareProcess;
using heapwright::valgrind::Reader;
using heapwright::valgrind::readLog;
using heapwright::valgrind::writeResult;
using heapwright::valgrind::writeStatus;
using Clock = std::chrono::steady_clock;

void describe(Json& json, Observer& observer) {
    observer.finish();
    json.field("traced", observer.traced()).field("marked", observer.marked());
    json.field("replaced", observer.replaced()).field("owner", observer.owner());
    json.field("words", observer.words()).field("children", observer.children());
    json.field("threads", observer.threads()).field("misread_lines", observer.misread());
    writeDrag(json, observer.account(), observer.sites(), observer.modules());
}

int observeCommand(const Options& options) {
    const auto begin = Clock::now();
    const std::string calls = "--num-callers=" + std::to_string(options.calls);
    Child child;
    std::string reason;
    Json json;
    json.beginObject();
    if (!child.start(options.command, calls.c_str(), reason)) {
        json.field("spawn_error", "valgrind: " + reason).endObject();
        return writeResult(programText, options, json);
    }
    const auto observer = std::make_unique<Observer>(child.pid());
    Reader reader(child.log());
    const char* const limit = follow(child, reader, *observer, {options.seconds, 0}, interrupted);
    // The log may end before the process does, because exec has replaced the program.
    while (limit == nullptr && !child.ended() && interrupted == 0) {
        usleep(1000);
    }
    const bool itself = child.ended();
    child.end();
    json.key("limit");
    limit != nullptr ? json.value(limit) : itself ? json.null() : json.value("interrupted");
    writeStatus(json, child, itself);
    json.field("seconds", std::chrono::duration<double>(Clock::now() - begin).count());
    json.field("trace_bytes", reader.bytes());
    describe(json, *observer);
    json.endObject();
    return writeResult(programText, options, json);
}

int observeLog(const Options& options) {
    const auto observer = std::make_unique<Observer>(0);
    if (!readLog(programText, options, *observer)) {
        return 2;
    }
    Json json;
    json.beginObject();
    describe(json, *observer);
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
    return options->trace != nullptr ? observeLog(*options) : observeCommand(*options);
}
