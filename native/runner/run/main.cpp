// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-run: runs one command, measures it and everything that it starts, and writes what it
// measured as one JSON object. Needs no privileges, no control group and no tracing. Leaves with 0
// whenever it wrote the object, however the command ended; with 2 when it was itself misused.
// With --serve alone it stays and does so for each command that it is asked for (serve.hpp).
#include "result.hpp"
#include "serve.hpp"
#include "write_all.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using namespace heapwright::runner;

int reportError(const char* what, const char* about) {
    std::fprintf(stderr, "heapwright-run: %s %s: %s\n", what, about, std::strerror(errno));
    return 2;
}

/// Makes the file, and tells the witnesses by its full path, for the command may run elsewhere.
bool prepareWitness(WitnessFile& witness, const char* path) {
    if (!witness.create(path)) {
        return false;
    }
    char* const whole = *path == '/' ? nullptr : realpath(path, nullptr);
    const char* const told = *path == '/' ? path : whole;
    const bool done =
        told != nullptr && setenv(heapwright::runner::witness::variable, told, 1) == 0;
    std::free(whole);
    return done;
}

HostConditions hostConditions;

void prepare() {
    hostConditions.prepare();
}

/// Runs one command; the exit status.
int runOnce(int count, char** arguments) {
    const auto options = parseOptions(count, arguments);
    if (!options) {
        return 2;
    }
    WitnessFile witness;
    if (options->witness != nullptr && !prepareWitness(witness, options->witness)) {
        return reportError("cannot make", options->witness);
    }
    fcntl(options->resultFd, F_SETFD, FD_CLOEXEC);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        return reportError("cannot become", "the sub-reaper");
    }
    hostConditions.begin();
    Counters counters;
    if (options->counters) {
        counters.open();
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    Measurement measurement(*options, witness);
    measurement.run(before);
    // SIGPIPE is blocked like all others, so a reader who has gone makes an error, not a death.
    const std::string json = resultJson(measurement, witness, counters, hostConditions);
    if (writeAll(options->resultFd, json)) {
        return 0;
    }
    if (errno == EPIPE && options->witness != nullptr) {
        unlink(options->witness); // whoever would have done so is gone
        errno = EPIPE;
    }
    return reportError("cannot write", "the result");
}

} // namespace

int main(int count, char** arguments) {
    if (count == 2 && std::strcmp(arguments[1], "--serve") == 0) {
        return serve(0, prepare, runOnce);
    }
    return runOnce(count, arguments);
}
