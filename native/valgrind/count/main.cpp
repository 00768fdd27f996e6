// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-count: runs a command under valgrind's tracer, reads the trace as it comes, and writes
// what happened inside the allocator as one JSON object. Nothing of the trace is kept. Leaves with
// 0 whenever it wrote the object, with 2 when it was itself misused. The object says in `limit` if
// a limit ended the command, and then holds what was counted until then.
#include "account.hpp"
#include "json.hpp"
#include "options.hpp"
#include "write_all.hpp"

#include "valgrind/lackey/follow.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace heapwright::valgrind;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t interrupted = 0;

void onSignal(int) {
    interrupted = 1;
}

void number(heapwright::runner::Json& json, const char* name, std::uint64_t value) {
    json.key(name).value(static_cast<std::int64_t>(value));
}

void describe(heapwright::runner::Json& json, const Account& account) {
    const Counted& counted = account.counted();
    const Lines::Total lines = account.lines();
    json.key("marked").value(account.marked());
    json.key("traced").value(account.traced());
    json.key("provider").value(account.provider());
    json.key("words").value(account.words());
    number(json, "calls", counted.calls);
    number(json, "idle_calls", counted.idle);
    number(json, "threads", counted.threads);
    number(json, "instructions", counted.instructions);
    number(json, "lock_prefixed", counted.prefixed);
    number(json, "exchanges", counted.exchanges);
    number(json, "unknown_instructions", counted.unknown);
    number(json, "misread_lines", counted.misread);
    number(json, "metadata_lines", lines.lines);
    number(json, "shared_metadata_lines", lines.shared);
    number(json, "writes_to_shared_lines", lines.sharedWrites);
}

/// What this program leaves with.
int writeResult(const Options& options, const heapwright::runner::Json& json) {
    if (heapwright::runner::writeAll(options.resultFd, json.text())) {
        return 0;
    }
    std::fprintf(stderr, "heapwright-count: cannot write: %s\n", std::strerror(errno));
    return 2;
}

void text(heapwright::runner::Json& json, const char* name, const char* value) {
    json.key(name);
    if (value == nullptr) {
        json.null();
    } else {
        json.value(value);
    }
}

int countCommand(const Options& options) {
    const auto begin = Clock::now();
    Child child;
    std::string reason;
    heapwright::runner::Json json;
    json.open('{');
    if (!child.start(options.command, nullptr, reason)) {
        json.key("spawn_error").value("valgrind: " + reason).close('}');
        return writeResult(options, json);
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
    const int status = child.status();
    text(json, "limit", limit == nullptr && !itself ? "time" : limit);
    json.key("exit_status");
    itself&& WIFEXITED(status) ? json.value(WEXITSTATUS(status)) : json.null();
    json.key("signal");
    itself&& WIFSIGNALED(status) ? json.value(WTERMSIG(status)) : json.null();
    json.key("seconds").value(std::chrono::duration<double>(Clock::now() - begin).count());
    number(json, "trace_bytes", reader.bytes());
    describe(json, account);
    json.close('}');
    return writeResult(options, json);
}

int countLog(const Options& options) {
    const int log = open(options.trace, O_RDONLY | O_CLOEXEC);
    if (log < 0) {
        std::fprintf(stderr, "heapwright-count: %s: %s\n", options.trace, std::strerror(errno));
        return 2;
    }
    Account account(0);
    Reader reader(log);
    while (reader.readSome(account)) {
    }
    close(log);
    heapwright::runner::Json json;
    json.open('{');
    describe(json, account);
    json.close('}');
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
    return options->trace != nullptr ? countLog(*options) : countCommand(*options);
}
