// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The recorder's hooks into the life of a process: its start, its forks, and its regular end. It
// also handles the signals that turn recording off and on, or mark a moment. A process that is
// killed, calls _exit or becomes another program skips its end hook. What it recorded until then is
// in the trace.
#include "entry.hpp"
#include "operator_fallback.hpp"
#include "record.hpp"

#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/output.hpp>

#include <charconv>
#include <csignal>
#include <cstddef>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::recorder {

void* const entry::allocatorScope = RTLD_NEXT;

std::string_view entry::tracePath() noexcept {
    return platform::environmentVariable(traceVariable); // a zero byte follows each variable
}

bool entry::isLaunched(const trace::FileHeader& header) noexcept {
    return header.launcher == static_cast<std::uint32_t>(::syscall(SYS_getppid));
}

/// The command is recorded to its end.
bool entry::isAbandoned(trace::FileHeader&) noexcept {
    return false;
}

namespace {

/// The kernel has already closed the gate. This hook records the child even if it never allocates.
void afterForkInChild() {
    Thread& self = thisThread;
    const State before = self.state;
    self.state = State::inside;
    recording.noteForkInChild();
    self.state = before;
}

void toggleBySignal(int) {
    recording.toggle();
}

void markBySignal(int number) {
    char text[24] = "signal ";
    constexpr std::size_t length = 7;
    const auto written = std::to_chars(text + length, text + sizeof text, number);
    const std::string_view numbered(text, static_cast<std::size_t>(written.ptr - text));
    recording.mark(number == SIGUSR1   ? "USR1"
                   : number == SIGUSR2 ? "USR2"
                                       : numbered,
                   static_cast<std::uint32_t>(number));
}

/// Handles the signal whose number is in a variable of the environment, if there is one.
void listenToSignal(const char* variable, void (*handler)(int)) noexcept {
    const std::string_view text = platform::environmentVariable(variable);
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    if (number > 0) {
        struct sigaction action = {};
        action.sa_handler = handler;
        action.sa_flags = SA_RESTART;
        ::sigaction(number, &action, nullptr);
    }
}

__attribute__((constructor)) void begin() {
    const platform::ErrnoKeeper keeper;
    Thread& self = thisThread;
    isOutermost(self);
    if (!recording.isOpen()) {
        return;
    }
    const State before = self.state;
    self.state = State::inside;
    findOperatorOwner();
    ::pthread_atfork(nullptr, nullptr, &afterForkInChild);
    listenToSignal(signalVariable, &toggleBySignal);
    listenToSignal(markSignalVariable, &markBySignal);
    self.state = before;
}

__attribute__((destructor)) void end() {
    recording.end();
}

} // namespace

} // namespace heapwright::recorder

/// Called by the other preloaded libraries of a recording: memory that is mapped only because the
/// program is recorded. Post: the profile counts it as the recorder's.
extern "C" __attribute__((visibility("default"))) void
heapwright_recorder_memory(const void* pages, std::size_t bytes) noexcept {
    heapwright::recorder::recording.noteOwnMemory(pages, bytes);
}

/// Called by `heapwright_mark` (include/heapwright/c/mark.h): the program names this moment.
extern "C" __attribute__((visibility("default"))) void
heapwright_recorder_mark(const char* name) noexcept {
    if (name != nullptr) {
        heapwright::recorder::recording.mark(name, 0);
    }
}
