// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See result.hpp.
#include "result.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace heapwright::valgrind {

volatile std::sig_atomic_t interrupted = 0;

namespace {

void onSignal(int) {
    interrupted = 1;
}

} // namespace

void prepareProcess(const LogOptions& options) {
    fcntl(options.resultFd, F_SETFD, FD_CLOEXEC);
    struct sigaction action {};
    action.sa_handler = onSignal;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        sigaction(signal, &action, nullptr);
    }
    std::signal(SIGPIPE, SIG_IGN);
}

int writeResult(const ProgramText& program, const LogOptions& options, const Json& json) {
    std::string_view left = json.text();
    while (!left.empty()) {
        const ssize_t written = write(options.resultFd, left.data(), left.size());
        if (written < 0 && errno != EINTR) {
            std::fprintf(stderr, "%s: cannot write: %s\n", program.name, std::strerror(errno));
            return 2;
        }
        left.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
    return 0;
}

void writeStatus(Json& json, const Child& child, bool endedByItself) {
    const int status = child.status();
    json.key("exit_status");
    endedByItself&& WIFEXITED(status) ? json.value(static_cast<std::uint32_t>(WEXITSTATUS(status)))
                                      : json.null();
    json.key("signal");
    endedByItself&& WIFSIGNALED(status) ? json.value(static_cast<std::uint32_t>(WTERMSIG(status)))
                                        : json.null();
}

int openLog(const ProgramText& program, const LogOptions& options) {
    const int log = open(options.trace, O_RDONLY | O_CLOEXEC);
    if (log < 0) {
        std::fprintf(stderr, "%s: %s: %s\n", program.name, options.trace, std::strerror(errno));
    }
    return log;
}

} // namespace heapwright::valgrind
