// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-drag: runs a command under valgrind's tracer, reads the trace as it comes, and writes
// one JSON object: what of its memory was held after its last use. Nothing of the trace is kept.
// Leaves with 0 whenever it wrote the object, however the command ended, and with 2 when it was
// itself misused. Ended by a signal, it tells what it knows until then.
#include "drag/account/report.hpp"
#include "drag/valgrind/observer.hpp"
#include "drag/valgrind/options.hpp"
#include "valgrind/lackey/follow.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace heapwright::drag;
using heapwright::Json;
using heapwright::valgrind::Child;
using heapwright::valgrind::Reader;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t interrupted = 0;

void onSignal(int) {
    interrupted = 1;
}

/// What this program leaves with.
int writeResult(const Options& options, const Json& json) {
    std::string_view left = json.text();
    while (!left.empty()) {
        const ssize_t written = write(options.resultFd, left.data(), left.size());
        if (written < 0 && errno != EINTR) {
            std::fprintf(stderr, "heapwright-drag: cannot write: %s\n", std::strerror(errno));
            return 2;
        }
        left.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
    return 0;
}

void describe(Json& json, Observer& observer) {
    observer.finish();
    json.field("traced", observer.traced()).field("marked", observer.marked());
    json.field("replaced", observer.replaced()).field("owner", observer.owner());
    json.field("words", observer.words()).field("children", observer.children());
    json.field("threads", observer.threads()).field("misread_lines", observer.misread());
    writeDrag(json, observer.account(), observer.sites(), observer.modules());
}

void writeStatus(Json& json, const Child& child, bool itself) {
    const int status = child.status();
    json.key("exit_status");
    itself&& WIFEXITED(status) ? json.value(static_cast<std::uint32_t>(WEXITSTATUS(status)))
                               : json.null();
    json.key("signal");
    itself&& WIFSIGNALED(status) ? json.value(static_cast<std::uint32_t>(WTERMSIG(status)))
                                 : json.null();
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
        return writeResult(options, json);
    }
    const auto observer = std::make_unique<Observer>(child.pid());
    Reader reader(child.log());
    const char* const limit = follow(child, reader, *observer, {options.seconds, 0}, interrupted);
    // The log may end before the process does: by exec it has become another one.
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
    return writeResult(options, json);
}

int observeLog(const Options& options) {
    const int log = open(options.trace, O_RDONLY | O_CLOEXEC);
    if (log < 0) {
        std::fprintf(stderr, "heapwright-drag: %s: %s\n", options.trace, std::strerror(errno));
        return 2;
    }
    const auto observer = std::make_unique<Observer>(0);
    Reader reader(log);
    while (reader.readSome(*observer)) {
    }
    close(log);
    Json json;
    json.beginObject();
    describe(json, *observer);
    json.endObject();
    return writeResult(options, json);
}

} // namespace

int main(int count, char** arguments) {
    const auto options = parseOptions(count, arguments);
    if (!options) {
        return 2;
    }
    fcntl(options->resultFd, F_SETFD, FD_CLOEXEC);
    struct sigaction action {};
    action.sa_handler = onSignal;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        sigaction(signal, &action, nullptr);
    }
    std::signal(SIGPIPE, SIG_IGN);
    return options->trace != nullptr ? observeLog(*options) : observeCommand(*options);
}
