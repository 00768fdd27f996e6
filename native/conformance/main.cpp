// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-conformance: checks whether the malloc of this process follows the rules.
//
//   heapwright-conformance --list     every case: NAME, the rule's source, what it checks; by tabs
//   heapwright-conformance NAME...    run these cases in this process, one after the other
//
// It checks the malloc of its own process, so preload the allocator. Exit status 0: All cases pass.
// 1: A case failed, and one line on standard output states it. 77: The case cannot run here, with
// the reason. 2: Unknown name. Any other end, such as a signal, is also a failure of the allocator.
#include "suite.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace {

using conformance::Case;
using conformance::Demand;

// A case takes at most a few seconds where it has the processors. `signal-fork-threads` forks 60
// times while two threads take the lock that a fork waits for, which took a minute on a busy
// machine. The limit of the test that runs this program is the larger one, so that the program
// states the failure itself (TIMEOUT_S in tests/native/conformance/test_conformance.py).
constexpr unsigned watchdogSeconds = 140;

const char* nameOf(Demand demand) {
    switch (demand) {
    case Demand::standard:
        return "standard";
    case Demand::glibc:
        return "glibc";
    case Demand::robust:
        return "robust";
    }
    return "";
}

void list() {
    for (const Case* it = Case::first(); it != nullptr; it = it->next()) {
        std::printf("%s\t%s\t%s\n", it->name(), nameOf(it->demand()), it->what());
    }
}

void onWatchdog(int) {
    char text[48];
    std::snprintf(text, sizeof text, "not finished after %u seconds", watchdogSeconds);
    conformance::fail(text);
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
        list();
        return 0;
    }
    if (argc < 2) {
        std::fputs("usage: heapwright-conformance --list | NAME...\n", stderr);
        return 2;
    }
    for (int i = 1; i < argc; ++i) {
        const Case* wanted = Case::find(argv[i]);
        if (wanted == nullptr) {
            std::fprintf(stderr, "heapwright-conformance: no case is called %s\n", argv[i]);
            return 2;
        }
        std::signal(SIGALRM, onWatchdog);
        ::alarm(watchdogSeconds);
        wanted->run();
    }
    return 0;
}
