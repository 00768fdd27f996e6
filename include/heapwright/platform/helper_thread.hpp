// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread that a library starts for itself. It is detached and blocks all signals. It must not
// keep the process alive after all other threads have ended.
//
// Starting one allocates in the C library.
#pragma once

#include <heapwright/platform/blocked_signals.hpp>
#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/process.hpp>

#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <pthread.h>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::platform {

/// Starts a thread that runs `function`. Returns false if the system cannot start one.
/// Pre: `name` has at most 15 characters.
[[nodiscard]] inline bool startHelper(void* (*function)(void*), const char* name) noexcept {
    const ErrnoKeeper keeper;
    pthread_attr_t attributes;
    if (::pthread_attr_init(&attributes) != 0) {
        return false;
    }
    ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    constexpr std::size_t smallStack = 128 * 1024;
    ::pthread_attr_setstacksize(&attributes, smallStack);
    pthread_t thread{};
    bool started = false;
    {
        const BlockedSignals blocked; // the program's handlers do not run in this thread
        started = ::pthread_create(&thread, &attributes, function, nullptr) == 0;
        if (!started) { // thread-local variables of the program may need more than the small stack
            started = ::pthread_attr_init(&attributes) == 0 &&
                      ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                      ::pthread_create(&thread, &attributes, function, nullptr) == 0;
        }
    }
    ::pthread_attr_destroy(&attributes);
    if (started) {
        ::pthread_setname_np(thread, name);
    }
    return started;
}

/// The number of threads of this process, including those that have ended but are not yet removed;
/// 0 if the system does not report it.
[[nodiscard]] inline std::size_t threadsOfProcess() noexcept {
    const ErrnoKeeper keeper;
    const int file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    char text[512] = {};
    const ssize_t length = ::read(file, text, sizeof text - 1);
    ::close(file);
    // NUMBER (NAME) STATE, then numbers. The 17th of these is the number of threads.
    std::string_view line(text, length < 0 ? 0 : static_cast<std::size_t>(length));
    line.remove_prefix(line.rfind(')') == std::string_view::npos ? line.size() : line.rfind(')'));
    for (int field = 0; field < 18; ++field) {
        const std::size_t space = line.find(' ');
        line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
    }
    std::size_t number = 0;
    for (const char digit : line) {
        if (digit < '0' || digit > '9') {
            break;
        }
        number = number * 10 + static_cast<std::size_t>(digit - '0');
    }
    return number;
}

/// Whether the calling thread is the only one of its process that has not ended.
/// Pre: it is a helper thread, and not the first thread.
[[nodiscard]] inline bool aloneInProcess() noexcept {
    return threadsOfProcess() == 2 && threadIsGone(processId());
}

/// Whether the calling thread is the main thread.
[[nodiscard]] inline bool isFirstThread() noexcept {
    return static_cast<std::uint32_t>(::syscall(SYS_gettid)) == processId();
}

} // namespace heapwright::platform
