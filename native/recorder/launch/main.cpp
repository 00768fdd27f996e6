// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-record: makes a trace, starts a command that records into it, and waits for its end.
// It then prints one JSON object about the run. Meanwhile the control file and SIGUSR1 turn
// recording on and off, and the system's view of the command's memory is sampled. LD_PRELOAD loads
// the recorder; the caller supplies its value.
//
// Exit status: 0 if the object was written, 2 if the arguments were wrong or the trace could not be
// made. An interrupt goes to the command. After the command's end, an interrupt or a SIGTERM ends
// the waiting for processes that the command left behind. With --bound the launcher ends the
// command when the reader of the result is gone, for example because it was killed.
#include "accounting.hpp"
#include "command.hpp"
#include "control.hpp"
#include "options.hpp"
#include "perf_maps.hpp"
#include "summary.hpp"
#include "trace_file.hpp"

#include "watch/watcher.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <heapwright/platform/ticks.hpp>
#include <poll.h>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>

namespace {

using namespace heapwright;
using namespace heapwright::recorder::launch;

constexpr std::uint64_t millisecond = 1'000'000;
constexpr std::uint64_t controlInterval = 10 * millisecond;
constexpr std::uint64_t longestWait = 1000 * millisecond;
constexpr std::uint64_t patience = 5000 * millisecond; ///< between the request to end and the kill
constexpr std::uint64_t killInterval = 50 * millisecond;

sigset_t listenedTo() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1}) {
        sigaddset(&set, number);
    }
    return set;
}

std::uint64_t now() {
    return platform::clockNanoseconds(CLOCK_MONOTONIC);
}

class Recording {
public:
    Recording(const Options& options, int signals, const sigset_t& mask)
        : options_(options), signals_(signals), trace_(options), control_(options.control),
          accounting_(options) {
        if (options.watch) {
            watching_ = watcher_.open(options.trace);
        }
        look();
        command_.emplace(options, mask);
        if (command_->isRunning()) {
            accounting_.begin(command_->pid());
        }
    }

    void run() {
        bool alone = !command_->reap(accounting_);
        bool told = false;
        while (!alone && (command_->isRunning() || abandoned_ || (options_.follow && !enough_))) {
            if (!command_->isRunning() && !told && !abandoned_) {
                told = true;
                std::fputs("heapwright: the command has left processes behind, which are recorded "
                           "still; Ctrl-C ends that\n",
                           stderr);
            }
            wait(look());
            alone = !command_->reap(accounting_);
        }
        watcher_.close();
        accounting_.write(trace_);
        if (options_.stacks) {
            keepPerfMaps(trace_, options_.trace);
        }
        trace_.close(alone || !options_.follow);
    }

    void report() const {
        if (!abandoned_) {
            writeSummary(options_, trace_, command_->ending());
        }
    }

private:
    /// Does what is due; the nanoseconds until something is due again.
    std::uint64_t look() {
        if (const std::optional<bool> on = control_.change()) {
            trace_.setRecording(*on);
        }
        std::uint64_t limit = options_.control != nullptr ? controlInterval : longestWait;
        if (abandoned_) {
            if (now() - *abandoned_ >= patience) {
                Command::killChildren();
            }
            limit = std::min(limit, killInterval);
        }
        if (command_ && command_->isRunning()) {
            limit = std::min(limit, accounting_.tick());
        }
        return watching_ ? std::min(limit, watcher_.tick()) : limit;
    }

    void wait(std::uint64_t ns) {
        const bool heeding = options_.bound && !abandoned_;
        std::array<pollfd, 2> waiting = {{{signals_, POLLIN, 0}, {options_.resultFd, 0, 0}}};
        const timespec time = {static_cast<time_t>(ns / (1000 * millisecond)),
                               static_cast<long>(ns % (1000 * millisecond))};
        if (ppoll(waiting.data(), heeding ? 2 : 1, &time, nullptr) <= 0) {
            return;
        }
        if ((waiting[1].revents & POLLERR) != 0) {
            abandoned_ = now();
            command_->abandon();
        }
        signalfd_siginfo signal = {};
        while (read(signals_, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
            take(static_cast<int>(signal.ssi_signo), signal.ssi_code == SI_USER);
        }
    }

    void take(int signal, bool sentByProgram) {
        if (signal == SIGUSR1) {
            trace_.toggle();
        } else if (signal != SIGCHLD) {
            enough_ = !command_->isRunning();
            if (sentByProgram) { // what the terminal sends, it sends to the command as well
                command_->send(signal);
            }
        }
    }

    const Options& options_;
    int signals_;
    NewTrace trace_;
    ControlFile control_;
    Accounting accounting_;
    recorder::watch::Watcher watcher_;
    bool watching_ = false;
    bool enough_ = false;
    std::optional<std::uint64_t> abandoned_; ///< when
    std::optional<Command> command_;
};

int record(const Options& options) {
    const sigset_t ours = listenedTo();
    sigset_t before;
    sigprocmask(SIG_BLOCK, &ours, &before);
    const int signals = signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC);
    Recording recording(options, signals, before);
    recording.run();
    recording.report();
    return 0;
}

} // namespace

int main(int count, char** arguments) {
    const std::optional<Options> options = parseOptions(count, arguments);
    if (!options) {
        return 2;
    }
    try {
        return record(*options);
    } catch (const std::system_error& error) {
        std::fprintf(stderr, "heapwright-record: %s: %s\n", options->trace,
                     error.code().message().c_str());
        return 2;
    }
}
