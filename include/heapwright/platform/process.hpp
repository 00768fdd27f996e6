// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations for heaps that several processes share. They are a thread number that is unique on the
// machine, whether a thread still exists, and sleeping on a word in shared memory. All keep errno.
// None allocates.
#pragma once

#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/platform/thread.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <new>
#include <string_view>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::platform {

/// Sleeps while `word` is `expected`, until a thread of any process wakes it or `milliseconds` have
/// passed. It may also return without a reason.
inline void sharedFutexWait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                            unsigned milliseconds) noexcept {
    const ErrnoKeeper keeper;
    const std::timespec time = {static_cast<std::time_t>(milliseconds / 1000),
                                static_cast<long>(milliseconds % 1000) * 1'000'000L};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0);
}

/// Wakes one thread that sleeps on `word`, in any process.
inline void sharedFutexWakeOne(std::atomic<std::uint32_t>& word) noexcept {
    const ErrnoKeeper keeper;
    ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

namespace detail {

/// The number of the calling thread, and the process in which it was determined.
struct KnownThread {
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
};

using Known = PerThread<KnownThread, KnownThread>;

/// A word that is zero again in a forked child, after every call that forks.
inline constinit std::atomic<std::atomic<std::uint32_t>*> processWord{nullptr};

/// Returns null on failure.
[[nodiscard, gnu::cold, gnu::noinline]] inline std::atomic<std::uint32_t>*
makeProcessWord() noexcept {
    void* const page = mapPages(pageSize());
    if (page == nullptr) {
        return nullptr;
    }
    const ErrnoKeeper keeper;
    auto* const word = ::new (page) std::atomic<std::uint32_t>(0);
    std::atomic<std::uint32_t>* already = nullptr;
    if (::madvise(page, pageSize(), MADV_WIPEONFORK) == 0 &&
        processWord.compare_exchange_strong(already, word)) {
        return word;
    }
    unmapPages(page, pageSize());
    return already;
}

[[nodiscard, gnu::cold, gnu::noinline]] inline std::uint32_t askThreadId() noexcept {
    const auto thread = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    std::atomic<std::uint32_t>* word = processWord.load(std::memory_order_acquire);
    word = word != nullptr ? word : makeProcessWord();
    if (word != nullptr) {
        const auto process = static_cast<std::uint32_t>(::getpid());
        word->store(process, std::memory_order_relaxed);
        Known::mine() = {process, thread};
    }
    return thread;
}

} // namespace detail

/// The number of this process.
[[nodiscard]] inline std::uint32_t processId() noexcept {
    return static_cast<std::uint32_t>(::getpid());
}

/// The number of the calling thread: not 0, below 2^30, and unique in its process namespace.
/// Cost: one system call per thread, and one after a fork.
[[nodiscard]] inline std::uint32_t threadId() noexcept {
    const auto* const word = detail::processWord.load(std::memory_order_acquire);
    const detail::KnownThread known = detail::Known::mine();
    if (word != nullptr && known.process != 0 &&
        word->load(std::memory_order_relaxed) == known.process) [[likely]] {
        return known.thread;
    }
    return detail::askThreadId();
}

/// Whether the thread with a number has ended, joined or not. False if the system does not report
/// it.
[[nodiscard]] inline bool threadIsGone(std::uint32_t thread) noexcept {
    const ErrnoKeeper keeper;
    char text[512] = {};
    std::snprintf(text, sizeof text, "/proc/%u/stat", thread);
    const int file = ::open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0) { // gone, or hidden from this user, or /proc is not mounted
        return ::syscall(SYS_tkill, thread, 0) != 0 && errno == ESRCH;
    }
    const ssize_t length = ::read(file, text, sizeof text - 1);
    ::close(file);
    // NUMBER (NAME) STATE ...: the name may contain anything, also parentheses.
    const std::string_view line(text, length < 0 ? 0 : static_cast<std::size_t>(length));
    const std::size_t name = line.rfind(')');
    if (name == std::string_view::npos || name + 2 >= line.size()) {
        return length < 0 && errno == ESRCH;
    }
    return line[name + 2] == 'Z' || line[name + 2] == 'X';
}

} // namespace heapwright::platform
