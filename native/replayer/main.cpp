// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-replay: repeats a recorded trace call by call. `prepare` makes a plan of the trace.
// `run` replays the plan with the preloaded allocator.
#include "prepare/prepare.hpp"
#include "run/fatal_error.hpp"
#include "run/plan_file.hpp"
#include "run/report.hpp"
#include "run/worker_pool.hpp"

#include "trace/event.hpp"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <unistd.h>

namespace heapwright::replayer {

namespace {

constexpr char usage[] =
    "usage: heapwright-replay prepare TRACE -o PLAN [--process N]\n"
    "                                 [--order hand-over|bounded|recorded] [--pace recorded]\n"
    "                                 [--gaps recorded [--iterations PER_MILLISECOND]\n"
    "                                 [--visits PER_MILLISECOND]]\n"
    "       heapwright-replay run PLAN [--touch none|first-byte|all|as-recorded-size]\n"
    "                                  [--check] [--curve FILE] [--no-latencies]\n"
    "                                  [--resident BYTES]\n"
    "Both print one JSON line. Leaves with 1 if a check found something wrong, 2 if the trace or\n"
    "the plan cannot be used, 3 if memory or threads could not be had.\n";

Order orderNamed(std::string_view name) {
    if (name == "hand-over") {
        return Order::handOver;
    }
    if (name == "bounded") {
        return Order::bounded;
    }
    if (name == "recorded") {
        return Order::recorded;
    }
    fatalError(Status::usage, "--order takes hand-over, bounded or recorded");
}

bool isPaced(std::string_view name) {
    if (name != "recorded" && name != "asap") {
        fatalError(Status::usage, "--pace takes recorded or asap");
    }
    return name == "recorded";
}

bool hasGaps(std::string_view name) {
    if (name != "recorded" && name != "none") {
        fatalError(Status::usage, "--gaps takes recorded or none");
    }
    return name == "recorded";
}

/// A whole number of at least 1.
std::uint64_t countOf(const char* text, const char* option) {
    constexpr std::uint64_t most = 100'000'000;
    char* end = nullptr;
    const unsigned long value = std::strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value == 0 || value > most) {
        fatalError(Status::usage, "%s takes a number from 1 to %" PRIu64, option, most);
    }
    return value;
}

std::uint32_t processNumber(const char* text) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value >= PrepareOptions::busiest) {
        fatalError(Status::usage, "--process takes the number of a process in the trace");
    }
    return static_cast<std::uint32_t>(value);
}

PrepareOptions readPrepareOptions(int argc, char** argv) {
    PrepareOptions options;
    for (int at = 0; at < argc; ++at) {
        const std::string_view word = argv[at];
        if (!word.starts_with("-") && options.trace.empty()) {
            options.trace = word;
            continue;
        }
        if (at + 1 >= argc) {
            fatalError(Status::usage, "%.200s needs a value", argv[at]);
        }
        const char* const value = argv[++at];
        if (word == "-o") {
            options.plan = value;
        } else if (word == "--process") {
            options.process = processNumber(value);
        } else if (word == "--order") {
            options.order = orderNamed(value);
        } else if (word == "--pace") {
            options.paced = isPaced(value);
        } else if (word == "--gaps") {
            options.gaps = hasGaps(value);
        } else if (word == "--iterations") {
            options.iterationsPerMillisecond = countOf(value, "--iterations");
        } else if (word == "--visits") {
            options.visitsPerMillisecond = countOf(value, "--visits");
        } else {
            fatalError(Status::usage, "prepare: there is no such option: %.200s", word.data());
        }
    }
    if (options.trace.empty() || options.plan.empty()) {
        fatalError(Status::usage, "prepare: it needs a trace and -o PLAN");
    }
    if (options.gaps && options.paced) {
        fatalError(Status::usage,
                   "prepare: --gaps recorded already takes the recorded time between "
                   "calls: leave out --pace recorded");
    }
    if (!options.gaps && options.iterationsPerMillisecond != 0) {
        fatalError(Status::usage,
                   "prepare: --iterations are of the work in gaps: add --gaps recorded");
    }
    if (!options.gaps && options.visitsPerMillisecond != 0) {
        fatalError(Status::usage, "prepare: --visits are made in gaps: add --gaps recorded");
    }
    return options;
}

int prepareMain(int argc, char** argv) {
    const PrepareOptions options = readPrepareOptions(argc, argv);
    try {
        const std::string text = describePlan(prepare(options));
        writeAll(STDOUT_FILENO, text.data(), text.size());
        return static_cast<int>(Status::fine);
    } catch (const std::exception& error) {
        ::unlink(options.plan.c_str());
        fatalError(Status::usage, "%s", error.what());
    }
}

int openCurve(const char* path) {
    const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
        fatalError(Status::usage, "%s cannot be written: %s", path, strerrordesc_np(errno));
    }
    return file;
}

void tell(const Findings& findings) {
    for (const Finding& each : findings.kept()) {
        const std::string_view routine = trace::name(each.routine);
        std::fprintf(stderr,
                     "heapwright-replay: %.*s: %s: %" PRIu64 " bytes at 0x%" PRIx64
                     " (byte or alignment %" PRIu64 ")\n",
                     static_cast<int>(routine.size()), routine.data(),
                     words[static_cast<std::size_t>(each.wrong)], each.size, each.address, each.at);
    }
    std::fprintf(stderr, "heapwright-replay: verification failed: %" PRIu64 " violations\n",
                 findings.count());
}

int runMain(int argc, char** argv) {
    const RunOptions options = readRunOptions(argc, argv);
    const Plan plan = openPlan(options.plan, options.resident);
    std::optional<Curve> curve;
    if (options.curve != nullptr) {
        curve.emplace(openCurve(options.curve));
    }
    std::optional<Check> check;
    if (options.check) {
        check.emplace();
    }
    Observers observers;
    observers.curve = curve ? &*curve : nullptr;
    observers.check = check ? &*check : nullptr;
    const Outcome outcome = replay(plan, options, observers);
    if (curve) {
        curve->flush();
    }
    const std::string text = describeReplay(plan.header, outcome, observers.check);
    writeAll(STDOUT_FILENO, text.data(), text.size());
    if (check && check->findings().count() != 0) {
        tell(check->findings());
        return static_cast<int>(Status::notVerified);
    }
    return static_cast<int>(Status::fine);
}

} // namespace

} // namespace heapwright::replayer

int main(int argc, char** argv) {
    using namespace heapwright::replayer;
    const std::string_view verb = argc > 1 ? argv[1] : "";
    if (verb == "prepare") {
        return prepareMain(argc - 2, argv + 2);
    }
    if (verb == "run") {
        return runMain(argc - 2, argv + 2);
    }
    const bool asked = verb == "--help" || verb == "-h";
    writeAll(asked ? STDOUT_FILENO : STDERR_FILENO, usage, sizeof usage - 1);
    return static_cast<int>(asked ? Status::fine : Status::usage);
}
