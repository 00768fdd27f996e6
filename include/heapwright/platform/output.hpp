// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes to descriptors from inside a heap: no stream, no allocation, errno kept. Errors are
// returned. No error of a write ends the program: not a closed pipe, a full disk, or a limit on the
// file size.
#pragma once

#include <heapwright/core/prefix.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern "C" char** environ;

namespace heapwright::platform {

namespace detail {

/// Blocks the signals of a failed write (SIGPIPE, SIGXFSZ) in this thread over a scope. A signal
/// that the write raised is discarded. A signal that was pending before stays pending.
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
                ::sigdelset(&ours_, number); // it would be mistaken for one that the write raised
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

/// Writes all bytes, in as many steps as needed. Returns false on failure; a part may then have
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

/// A duplicate of a descriptor, closed on exec; -1 on failure. Its number is high, so that it does
/// not collide with the descriptors that the program opens.
[[nodiscard]] inline int duplicateFile(int descriptor) noexcept {
    const ErrnoKeeper keeper;
    constexpr int firstHigh = 500;
    return ::fcntl(descriptor, F_DUPFD_CLOEXEC, firstHigh);
}

/// Creates or empties a file for writing, closed on exec; -1 on failure. Its number is high, too.
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

/// Opens a file to append to it, and creates it if needed. Closed on exec; -1 on failure.
[[nodiscard]] inline int appendToFile(const char* path) noexcept {
    const ErrnoKeeper keeper;
    return ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

inline void closeFile(int descriptor) noexcept {
    const ErrnoKeeper keeper;
    ::close(descriptor);
}

/// Replaces a file in one step, so that a reader finds the old content or the new one. `temporary`
/// is a path in the same folder. A device, a FIFO or a link stays, and gets the bytes. Returns
/// false on failure; an old file is then unchanged.
[[nodiscard]] inline bool replaceFile(const char* path, const char* temporary, const char* bytes,
                                      std::size_t count) noexcept {
    const ErrnoKeeper keeper;
    struct ::stat status = {};
    const bool isReplaced = ::lstat(path, &status) != 0 || S_ISREG(status.st_mode);
    if (isReplaced) {
        ::unlink(temporary); // an ended process with the same number may have left it
    }
    const int file = isReplaced ? ::open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                                : appendToFile(path);
    if (file < 0) {
        return false;
    }
    const bool written = writeAll(file, bytes, count);
    const bool closed = ::close(file) == 0; // some file systems report a full disk here
    if (!isReplaced) {
        return written && closed;
    }
    if (written && closed && ::rename(temporary, path) == 0) {
        return true;
    }
    ::unlink(temporary);
    return false;
}

/// The file behind a descriptor. A program may close a descriptor that it did not open and get the
/// number again for a file of its own. Compare the identity before each write to a kept descriptor.
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

/// Writes the name of the process, without a zero byte, into `size` bytes at `name`. Returns its
/// length; 0 if the system does not tell it.
[[nodiscard]] inline std::size_t processName(char* name, std::size_t size) noexcept {
    const ErrnoKeeper keeper;
    const int file = ::open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    const ::ssize_t length = ::read(file, name, size);
    ::close(file);
    const bool hasLine = length > 0 && name[length - 1] == '\n';
    return length <= 0 ? 0 : static_cast<std::size_t>(length) - (hasLine ? 1 : 0);
}

[[nodiscard]] inline unsigned processNumber() noexcept {
    return static_cast<unsigned>(::getpid());
}

} // namespace heapwright::platform
