// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-run: runs one command, measures it and all its descendants, and writes the measurement
// as one JSON object. It needs no privileges, no control group and no tracing. Exit status: 0 if
// the object was written, however the command ended; 2 for invalid arguments. With --serve alone it
// runs one command for each request (serve.hpp).
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

/// Creates the file and sets its full path for the witnesses, because the command may run in
/// another folder.
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
    // SIGPIPE is blocked like all other signals, so a closed reader causes an error and does not
    // end this program.
    const std::string json = resultJson(measurement, witness, counters, hostConditions);
    if (writeAll(options->resultFd, json)) {
        return 0;
    }
    if (errno == EPIPE && options->witness != nullptr) {
        unlink(options->witness); // the process that would have done so is gone
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
