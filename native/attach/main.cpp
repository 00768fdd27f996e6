// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-attach --trace T --library L [options] PID: records a process that runs already, until
// a signal, the end of the time, or its own end. Then it prints one JSON object. With --clear it
// removes what a killed recording left.
//
// Exit status: 0 if the object was written. It is 3 if attaching would be unsafe, 4 if a right is
// missing, and 5 if the process has ended. It is 1 for other failures, and 2 for wrong arguments.
#include "session.hpp"

#include "look/process.hpp"
#include "recorder/launch/trace_file.hpp"
#include "recorder/watch/watcher.hpp"
#include "trace/reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <poll.h>
#include <string_view>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace {

using namespace heapwright;
using namespace heapwright::attach;
using recorder::launch::NewTrace;

constexpr int unsafe = 3;
constexpr int denied = 4;
constexpr int ended = 5;
constexpr int checksOfEnd = 25;
constexpr std::uint64_t millisecond = 1'000'000;
constexpr std::uint64_t longestWait = 500 * millisecond;

struct Asked {
    recorder::launch::Options trace;
    std::string library;
    double seconds = 0; ///< 0: until a signal
    bool clear = false;
    pid_t pid = 0;
};

int fail(const std::string& why, int status) {
    std::fprintf(stderr, "heapwright-attach: %s\n", why.c_str());
    return status;
}

double milliseconds(Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

/// Waits for a reason to stop.
class Waiting {
public:
    explicit Waiting(pid_t pid) : process_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {
        sigset_t ours;
        sigemptyset(&ours);
        for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
            sigaddset(&ours, number);
        }
        sigprocmask(SIG_BLOCK, &ours, nullptr);
        signals_ = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() {
        ::close(process_);
        ::close(signals_);
    }

    const char* run(const Asked& asked, const NewTrace& trace, recorder::watch::Watcher* watcher) {
        while (true) {
            std::uint64_t wait = watcher == nullptr ? longestWait : watcher->tick();
            wait = std::min(wait, longestWait);
            Thread::releaseLate();
            if (trace.header().stop != trace::Stop::none) {
                return "stopped";
            }
            if (asked.seconds > 0) {
                const double rest = asked.seconds - trace.seconds();
                if (rest <= 0) {
                    return "time";
                }
                wait = std::min(wait, static_cast<std::uint64_t>(rest * 1e9) + 1);
            }
            std::array<pollfd, 3> all = {
                {{signals_, POLLIN, 0}, {process_, POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
            const timespec time = {static_cast<time_t>(wait / (1000 * millisecond)),
                                   static_cast<long>(wait % (1000 * millisecond))};
            ppoll(all.data(), all.size(), &time, nullptr);
            if (all[1].revents != 0) {
                return "ended";
            }
            if (all[0].revents != 0 || (all[2].revents & POLLERR) != 0) {
                return "asked";
            }
        }
    }

private:
    int process_;
    int signals_;
};

std::uint64_t countEvents(const char* path) {
    try {
        return trace::Trace(path).events();
    } catch (const std::exception&) {
        return 0;
    }
}

/// Restores the process; why something is left in it.
Removed removeFrom(pid_t pid, const char*& ending) {
    if (std::string_view(ending) == "ended") {
        return {};
    }
    try {
        const Target target(pid, Target::Purpose::stop);
        if (!target.hasAgent()) {
            ending = "replaced";
            return {};
        }
        return remove(target);
    } catch (const std::exception& error) {
        // A process that is about to end has its memory a moment longer.
        for (int check = 0; mayHoldAgent(pid); ++check) {
            if (check == checksOfEnd) {
                return {error.what(), {}};
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        ending = look::startOf(pid).empty() ? "ended" : "replaced";
        return {};
    }
}

int recordProcess(const Asked& asked) {
    const Target target(asked.pid, Target::Purpose::begin);
    Waiting waiting(asked.pid);
    NewTrace trace(asked.trace);
    std::unique_ptr<char, decltype(&std::free)> path(::realpath(asked.trace.trace, nullptr),
                                                     &std::free);
    Begun begun;
    try {
        begun = begin(target, asked.library, path == nullptr ? "" : path.get());
    } catch (...) {
        ::unlink(asked.trace.trace);
        throw;
    }
    std::fputs("recording\n", stderr);
    recorder::watch::Watcher watcher;
    const bool watches = asked.trace.watch && watcher.open(asked.trace.trace);
    const char* ending = waiting.run(asked, trace, watches ? &watcher : nullptr);
    const Removed removed = removeFrom(asked.pid, ending);
    watcher.close();
    trace.close(removed.left.empty());
    const trace::FileHeader& header = trace.header();
    std::string left = removed.left;
    std::replace(left.begin(), left.end(), '"', '\'');
    std::printf("{\"seconds\": %.6f, \"events\": %llu, \"bytes\": %llu, \"threads\": %u, "
                "\"unfollowed\": %u, \"lost\": %llu, \"stop\": \"%s\", \"ending\": \"%s\", "
                "\"slots\": %u, \"begin_ms\": %.3f, \"stop_ms\": %.3f, \"left\": \"%s\"}\n",
                trace.seconds(), static_cast<unsigned long long>(countEvents(asked.trace.trace)),
                static_cast<unsigned long long>(header.claimed), header.threads, header.unfollowed,
                static_cast<unsigned long long>(header.lostEvents), trace::name(header.stop),
                ending, begun.slots, milliseconds(begun.stopped), milliseconds(removed.stopped),
                left.c_str());
    return 0;
}

int clear(const Asked& asked) {
    const Target target(asked.pid, Target::Purpose::stop);
    if (!target.hasAgent()) {
        std::puts("{\"cleared\": false, \"left\": \"\"}");
        return 0;
    }
    const Removed removed = remove(target);
    std::printf("{\"cleared\": true, \"left\": \"%s\"}\n", removed.left.c_str());
    return 0;
}

bool parse(int count, char** arguments, Asked& asked) {
    for (int at = 1; at < count; ++at) {
        const std::string word = arguments[at];
        const bool hasValue = at + 1 < count;
        if (word == "--stacks") {
            asked.trace.stacks = true;
        } else if (word == "--no-system") {
            asked.trace.watch = false;
        } else if (word == "--clear") {
            asked.clear = true;
        } else if (word == "--trace" && hasValue) {
            asked.trace.trace = arguments[++at];
        } else if (word == "--library" && hasValue) {
            asked.library = arguments[++at];
        } else if (word == "--sample" && hasValue) {
            asked.trace.sample = std::strtoull(arguments[++at], nullptr, 10);
        } else if (word == "--salt" && hasValue) {
            asked.trace.salt = std::strtoull(arguments[++at], nullptr, 10);
        } else if (word == "--limit" && hasValue) {
            asked.trace.limit = std::strtoull(arguments[++at], nullptr, 10);
        } else if (word == "--seconds" && hasValue) {
            asked.seconds = std::strtod(arguments[++at], nullptr);
        } else {
            asked.pid = std::atoi(arguments[at]);
        }
    }
    const bool isRecording = asked.trace.trace != nullptr && !asked.library.empty();
    return asked.pid > 0 && (asked.clear || isRecording);
}

} // namespace

int main(int count, char** arguments) {
    Asked asked;
    if (!parse(count, arguments, asked)) {
        return fail(
            "usage: heapwright-attach --trace TRACE --library LIBRARY [--stacks] [--sample N "
            "--salt N] [--limit BYTES] [--seconds S] [--no-system] PID | --clear PID",
            2);
    }
    try {
        return asked.clear ? clear(asked) : recordProcess(asked);
    } catch (const Refusal& error) {
        return fail(error.what(), unsafe);
    } catch (const Denial& error) {
        return fail(error.what(), denied);
    } catch (const Ended& error) {
        return fail(error.what(), ended);
    } catch (const std::exception& error) {
        return fail(error.what(), 1);
    }
}
