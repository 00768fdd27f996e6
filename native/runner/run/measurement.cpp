// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See measurement.hpp. One loop in one thread; every event is a descriptor or a time.
//
// The phases: running. Settling: the command has ended but other processes of its tree have not;
// helpers get a moment to exit. Asked: the whole tree got SIGTERM. Killing: the whole tree gets
// SIGKILL repeatedly, because a process may fork between being listed and being signalled.
#include "measurement.hpp"

#include "procfs.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heapwright::runner {

namespace {

constexpr double samplingShare = 0.003; // of one processor
constexpr double scanningShare = 0.0015;
constexpr int scanEvery = 5; // samples; a walk over /proc only finds processes that do not report
constexpr Nanoseconds settlingTime = 100 * millisecond;
constexpr Nanoseconds killingTime = 10 * second;
constexpr Nanoseconds killingPause = 5 * millisecond;

int openSignals() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) {
        sigaddset(&wanted, signal);
    }
    return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// Each living process of the tree takes one descriptor. Called after the start, so that the
/// command does not inherit the limit.
void allowManyDescriptors() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

} // namespace

void Usage::add(const rusage& usage) {
    user += toNs(usage.ru_utime);
    system += toNs(usage.ru_stime);
    minorFaults += usage.ru_minflt;
    majorFaults += usage.ru_majflt;
    voluntarySwitches += usage.ru_nvcsw;
    involuntarySwitches += usage.ru_nivcsw;
    peakBytes = std::max(peakBytes, std::int64_t{usage.ru_maxrss} * 1024);
}

Measurement::Measurement(const Options& options, const WitnessFile& witness)
    : options_(options), tree_(witness, getpid()), sampling_(samplingShare, options.interval),
      scanning_(scanningShare, scanEvery * options.interval) {}

Nanoseconds Measurement::longestGap() const {
    return std::max(options_.interval, sampling_.longest());
}

Nanoseconds Measurement::meanGap() const {
    return samples_ > 1 ? wall() / samples_ : options_.interval;
}

bool Measurement::run(const sigset_t& mask) {
    signals_ = openSignals();
    spawned_ = spawn(options_, mask);
    if (spawned_.step != nullptr) {
        if (spawned_.pid > 0) {
            waitpid(spawned_.pid, nullptr, 0);
        }
        return false;
    }
    allowManyDescriptors();
    sampling_.begin(spawned_.startNs);
    tree_.belongs(spawned_.pid); // the only process so far; it is too early for a walk
    scanning_.begin(spawned_.startNs + scanEvery * options_.interval);
    paid_ = ownCpuNs();
    if (options_.timeout > 0) {
        deadline_ = spawned_.startNs + options_.timeout;
    }
    while (wait()) {
    }
    if (spawned_.errors >= 0) {
        tail_.drain(spawned_.errors);
    }
    return true;
}

/// Waits for an event and handles it. Returns false when the run is over.
bool Measurement::wait() {
    const Nanoseconds before = nowNs();
    const Nanoseconds pause = std::max<Nanoseconds>(nextWake(before) - before, 0);
    const timespec time{pause / second, static_cast<long>(pause % second)};
    pollfd events[] = {{spawned_.handle, POLLIN, 0},
                       {signals_, POLLIN, 0},
                       {spawned_.errors, POLLIN, 0},
                       {interrupted_ ? -1 : options_.resultFd, 0, 0}};
    ppoll(events, 4, &time, nullptr);
    const Nanoseconds now = nowNs();
    if (end_ == 0 && (events[0].revents & POLLIN) != 0) {
        end_ = now;
    }
    if ((events[1].revents & POLLIN) != 0) {
        readSignals();
    }
    if ((events[2].revents & (POLLIN | POLLHUP)) != 0 && !drainErrors()) {
        close(spawned_.errors);
        spawned_.errors = -1;
    }
    if ((events[3].revents & POLLERR) != 0) { // the reader of the result has closed it
        interrupted_ = true;
        end(Phase::killing, now);
    }
    if (((events[0].revents | events[1].revents) & POLLIN) != 0) {
        reap();
    }
    if (reaped_ && !childrenLeft()) {
        return false;
    }
    act(now);
    if (end_ == 0) {
        watch(now);
    }
    return phase_ != Phase::killing || now < deadline_;
}

Nanoseconds Measurement::nextWake(Nanoseconds now) const {
    Nanoseconds next = now + second;
    if (end_ == 0) {
        next = std::min(next, sampling_.next());
    }
    if (deadline_ != 0) {
        next = std::min(next, deadline_);
    }
    if (phase_ == Phase::killing) {
        next = std::min(next, lastTry_ + killingPause);
    }
    return next;
}

void Measurement::readSignals() {
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD) {
            continue;
        }
        // A second signal ends the run at once.
        end(interrupted_ ? Phase::killing : Phase::asked, nowNs());
        interrupted_ = true;
    }
}

/// Waits for every dead child: the command, and orphans of its tree. Each is read first, while the
/// kernel still reports its own CPU time apart from its children's.
void Measurement::reap() {
    for (;;) {
        siginfo_t dead{};
        if (waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT) != 0 || dead.si_pid == 0) {
            return;
        }
        if (dead.si_pid == spawned_.pid && end_ == 0) {
            end_ = nowNs();
        }
        Member& member = tree_.noteDeath(dead.si_pid);
        int status = 0;
        rusage usage{};
        if (wait4(dead.si_pid, &status, 0, &usage) != dead.si_pid) {
            return;
        }
        member.status = status;
        usage_.add(usage);
        if (dead.si_pid == spawned_.pid) {
            reaped_ = true;
            waitStatus_ = status;
            close(spawned_.handle); // otherwise it would end every wait from now on
            spawned_.handle = -1;
            if (phase_ == Phase::running) {
                phase_ = Phase::settling;
                deadline_ = end_ + settlingTime;
            }
        }
    }
}

/// This program is the sub-reaper, so without any child, no process of the tree is left.
bool Measurement::childrenLeft() const {
    siginfo_t info{};
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void Measurement::end(Phase phase, Nanoseconds now) {
    if (phase_ == Phase::killing) {
        return;
    }
    phase_ = phase;
    if (phase == Phase::asked) {
        deadline_ = now + options_.grace;
        tree_.signalAll(SIGTERM);
        tree_.signalAll(SIGCONT); // a stopped process cannot handle a signal
        return;
    }
    deadline_ = now + killingTime;
    lastTry_ = 0;
}

void Measurement::act(Nanoseconds now) {
    if (deadline_ != 0 && now >= deadline_) {
        switch (phase_) {
        case Phase::running:
            timedOut_ = true;
            end(Phase::asked, now);
            break;
        case Phase::settling:
            leftover_ = tree_.signalAll(0);
            end(Phase::asked, now);
            break;
        case Phase::asked:
            end(Phase::killing, now);
            break;
        case Phase::killing:
            break;
        }
    }
    if (phase_ == Phase::killing && now >= lastTry_ + killingPause) {
        lastTry_ = now;
        tree_.signalAll(SIGKILL);
    }
}

/// Each activity is charged with its cost, so neither can exceed its share. Sampling is also
/// charged with the rest of the loop, except reading the command's standard error.
void Measurement::watch(Nanoseconds now) {
    if (!sampling_.due(now)) {
        return;
    }
    if (scanning_.due(now)) {
        const Nanoseconds before = ownCpuNs();
        tree_.scan();
        const Nanoseconds cost = ownCpuNs() - before;
        scanning_.charge(now, cost);
        paid_ += cost;
    }
    tree_.adoptReported();
    const std::int64_t bytes = tree_.sample();
    series_.add(now - spawned_.startNs, bytes);
    treePeak_ = std::max(treePeak_, bytes);
    ++samples_;
    const Nanoseconds used = ownCpuNs();
    sampling_.charge(now, used - paid_);
    paid_ = used;
}

/// Returns false once all writers have closed it.
bool Measurement::drainErrors() {
    const Nanoseconds before = ownCpuNs();
    const bool open = tail_.drain(spawned_.errors);
    paid_ += ownCpuNs() - before;
    return open;
}

} // namespace heapwright::runner
