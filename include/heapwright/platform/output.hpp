// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing to descriptors from inside a heap: no stream, no allocation, errno kept. What fails is
// told, and nothing that a write can run into ends the program: a reader that has gone, a full
// disk, a limit on the size of files.
#pragma once

#include <heapwright/core/prefix.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern "C" char** environ;

namespace heapwright::platform {

namespace detail {

/// Keeps the signals by which a failed write would end the program from this thread over a scope;
/// one that the write has raised is taken out of the way, one that was waiting before stays.
class WriteSignals {
public:
    WriteSignals() noexcept {
        ::sigemptyset(&ours_);
        ::sigaddset(&ours_, SIGPIPE);
        ::sigaddset(&ours_, SIGXFSZ);
        ::sigset_t pending;
        ::sigemptyset(&pending);
        ::sigpending(&pending);
        for (const int number : {SIGPIPE, SIGXFSZ}) {
            if (::sigismember(&pending, number) == 1) {
                ::sigdelset(&ours_, number); // it would be taken for one that the write raised
            }
        }
        ::pthread_sigmask(SIG_BLOCK, &ours_, &before_);
    }
    WriteSignals(const WriteSignals&) = delete;
    WriteSignals& operator=(const WriteSignals&) = delete;
    ~WriteSignals() {
        const struct timespec now = {};
        if (failed_) {
            while (::sigtimedwait(&ours_, nullptr, &now) > 0) {
            }
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

    void failed() noexcept { failed_ = true; }

private:
    ::sigset_t ours_;
    ::sigset_t before_;
    bool failed_ = false;
};

} // namespace detail

/// Writes it all, in as many steps as it takes; false if it could not, when some of it may have
/// been written.
inline bool writeAll(int descriptor, const char* bytes, std::size_t count) noexcept {
    const ErrnoKeeper keeper;
    detail::WriteSignals signals;
    while (count != 0) {
        const ::ssize_t written = ::write(descriptor, bytes, count);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            signals.failed();
            return false;
        }
        bytes += written;
        count -= static_cast<std::size_t>(written);
    }
    return true;
}

/// A second number for a descriptor, closed when another program is started; -1 if there is none.
/// It is high, where no program looks for the descriptors that it opens itself.
[[nodiscard]] inline int duplicateFile(int descriptor) noexcept {
    const ErrnoKeeper keeper;
    constexpr int firstHigh = 500;
    return ::fcntl(descriptor, F_DUPFD_CLOEXEC, firstHigh);
}

/// A new or emptied file for writing, closed when another program is started; -1 if there is none.
/// Its number is high, too.
[[nodiscard]] inline int createFile(const char* path) noexcept {
    const ErrnoKeeper keeper;
    const int low = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (low < 0) {
        return -1;
    }
    const int high = duplicateFile(low);
    if (high < 0) {
        return low;
    }
    ::close(low);
    return high;
}

/// A file to write to behind what it has, made if it is not there, closed when another program is
/// started; -1 if there is none.
[[nodiscard]] inline int appendToFile(const char* path) noexcept {
    const ErrnoKeeper keeper;
    return ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

inline void closeFile(int descriptor) noexcept {
    const ErrnoKeeper keeper;
    ::close(descriptor);
}

/// Which file is behind a descriptor. A program may close what it did not open and get the number
/// again for something of its own; so whoever keeps a descriptor compares before it writes.
struct FileIdentity {
    ::dev_t device = 0;
    ::ino_t inode = 0;
    bool known = false;

    friend bool operator==(const FileIdentity& a, const FileIdentity& b) noexcept {
        return a.known && b.known && a.device == b.device && a.inode == b.inode;
    }
};

[[nodiscard]] inline FileIdentity identityOf(int descriptor) noexcept {
    const ErrnoKeeper keeper;
    struct ::stat status = {};
    if (::fstat(descriptor, &status) != 0) {
        return {};
    }
    return {status.st_dev, status.st_ino, true};
}

/// The value of an environment variable; empty if it is not set, or not known yet.
[[nodiscard]] inline std::string_view environmentVariable(std::string_view name) noexcept {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        std::string_view text(*entry);
        if (text.size() > name.size() && text[name.size()] == '=' && beginsWith(text, name)) {
            text.remove_prefix(name.size() + 1);
            return text;
        }
    }
    return {};
}

[[nodiscard]] inline unsigned processNumber() noexcept {
    return static_cast<unsigned>(::getpid());
}

} // namespace heapwright::platform
