// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See workload.hpp.
#include "workload.hpp"

#include "bump.hpp"
#include "interleave.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "text.hpp"

#include <cstring>
#include <ctime>
#include <iterator>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace heapwright::workloads {

namespace {

struct Team {
    void (*work)(const void*, unsigned);
    const void* context;
    pthread_barrier_t ready;
    pthread_barrier_t go;
};

struct Member {
    Team* team;
    unsigned index;
    double ended;
    pthread_t thread;
};

void* runMember(void* argument) {
    Member& member = *static_cast<Member*>(argument);
    threadNumber();
    pthread_barrier_wait(&member.team->ready);
    pthread_barrier_wait(&member.team->go);
    member.team->work(member.team->context, member.index);
    member.ended = now();
    return nullptr;
}

double cpuSeconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Omitted if no time was measured.
void addRate(Text& text, const char* name, std::uint64_t operations, double seconds) {
    if (seconds > 0) {
        text.key(name).number(static_cast<double>(operations) / seconds);
    }
}

void addFalseSharing(Text& text) {
    const Lines::Found& found = linesFound();
    text.key("false_sharing").open('{');
    text.key("active").number(found.active);
    text.key("passive").number(found.passive);
    text.key("lines").number(found.lines);
    text.key("objects").number(found.objects);
    text.key("at_risk").number(found.atRisk);
    text.key("mallocs").number(found.mallocs);
    text.close('}');
}

} // namespace

double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void Run::report(const char* name, double value) {
    for (Note& note : notes_) {
        if (note.name == nullptr || std::strcmp(note.name, name) == 0) {
            note = {name, value};
            return;
        }
    }
}

Run::Period Run::runThreads(unsigned count, void (*work)(const void*, unsigned),
                            const void* context) {
    Team team{work, context, {}, {}};
    pthread_barrier_init(&team.ready, nullptr, count + 1);
    pthread_barrier_init(&team.go, nullptr, count + 1);
    Member* const members = mapArray<Member>(count);
    for (unsigned index = 0; index < count; ++index) {
        members[index].team = &team;
        members[index].index = index;
        const int error =
            pthread_create(&members[index].thread, nullptr, runMember, &members[index]);
        if (error != 0) {
            notStarted("thread", index + 1, count, error);
        }
    }
    pthread_barrier_wait(&team.ready);
    series().begin();
    const double cpuBefore = cpuSeconds();
    const double began = now();
    pthread_barrier_wait(&team.go);
    double ended = began;
    for (unsigned index = 0; index < count; ++index) {
        pthread_join(members[index].thread, nullptr);
        ended = members[index].ended > ended ? members[index].ended : ended;
    }
    const Period period{ended - began, cpuSeconds() - cpuBefore};
    pthread_barrier_destroy(&team.ready);
    pthread_barrier_destroy(&team.go);
    unmapPages(members, count * sizeof(Member));
    return period;
}

void Run::measure(const Period& period) {
    if (prepared_) {
        events_.stop();
    }
    seconds_ += period.seconds;
    cpuSeconds_ += period.cpuSeconds;
}

int runWorkload(Description& description, int argc, char** argv, void (*body)(Run&)) {
    setProgramName(description.name);
    const Options options = readOptions(description, argc, argv);
    if (options.leave) {
        return static_cast<int>(Status::Fine);
    }
    Run run;
    run.threads_ = options.threads;
    run.seed_ = options.seed;
    run.verifying_ = options.watching.verify;
    const Calls under = options.bump ? bumpCalls(options.threads == 1) : systemCalls;
    calls = options.watching.any() ? observedCalls(under, options.watching) : under;
    if (options.interleave) {
        calls = interleavedCalls(calls);
    }
    threadNumber();

    if (options.watching.memory) {
        series().start();
    }
    run.events_.restart();
    body(run);
    if (!run.prepared_) {
        run.events_.stop();
    }
    const double cpu = cpuSeconds();
    if (options.watching.memory) {
        series().sample();
    }

    Text text;
    text.open('{');
    text.key("workload").quoted(description.name);
    text.key("threads").number(std::uint64_t{options.threads});
    text.key("seed").number(options.seed);
    text.key("scale").number(options.scale);
    for (std::size_t at = 0; at < description.parameterCount; ++at) {
        const Parameter& parameter = description.parameters[at];
        text.key(parameter.name);
        if (parameter.choices != nullptr) {
            text.quoted(parameter.choices[parameter.value]);
        } else {
            text.number(parameter.value);
        }
    }
    text.key("bump").add(options.bump ? "true" : "false");
    text.key("interleave").add(options.interleave ? "true" : "false");
    text.key("operations").number(run.operations_.load());
    text.key("seconds").number(run.seconds_);
    text.key("cpu_seconds").number(cpu);
    addRate(text, "operations_per_second", run.operations_.load(), run.seconds_);
    addRate(text, "operations_per_cpu_second", run.operations_.load(), run.cpuSeconds_);
    text.key("verified").add(options.watching.verify ? "true" : "false");
    text.key("peak_rss").number(std::uint64_t{peakResidentBytes()});
    text.key("own_bytes").number(std::uint64_t{mappedBytes()});
    for (unsigned at = 0; at < std::size(run.notes_) && run.notes_[at].name != nullptr; ++at) {
        text.key(run.notes_[at].name).number(run.notes_[at].value);
    }
    run.events_.describe(text);
    if (options.watching.lines) {
        addFalseSharing(text);
    }
    if (options.watching.memory) {
        series().describe(text);
    }
    text.close('}').add("\n");
    if (!text.writeTo(STDOUT_FILENO)) {
        notWritten();
    }
    return static_cast<int>(Status::Fine);
}

} // namespace heapwright::workloads
