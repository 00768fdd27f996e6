// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pages that several processes see, and files as memory. As in platform/pages.hpp, errno is kept,
// and failure is reported in the result. `unmapPages` also releases these pages.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/pages.hpp>

#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heapwright::platform {

/// Zero bytes that this process and its forked children share, or null. Untouched pages take no
/// memory.
[[nodiscard]] inline void* mapSharedPages(std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
}

/// Opens the file at a path and returns its descriptor; -1 on failure. A missing file is created,
/// readable by this user only.
[[nodiscard]] inline int openFile(const char* path) noexcept {
    const ErrnoKeeper keeper;
    return ::open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
}

/// Creates a file without a name in the folder for temporary files (TMPDIR, or /tmp), or in memory
/// if that folder does not support it. Returns its descriptor; -1 on failure. The file disappears
/// when no process has it open or mapped.
[[nodiscard]] inline int openUnnamedFile() noexcept {
    const ErrnoKeeper keeper;
    const char* const named = ::secure_getenv("TMPDIR");
    const int file = ::open(named != nullptr ? named : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC,
                            S_IRUSR | S_IWUSR);
    return file >= 0 ? file : ::memfd_create("heapwright", MFD_CLOEXEC);
}

inline void letFileGo(int file) noexcept {
    const ErrnoKeeper keeper;
    ::close(file);
}

/// The size of a file; 0 if it is none.
[[nodiscard]] inline std::size_t sizeOfFile(int file) noexcept {
    const ErrnoKeeper keeper;
    struct stat status = {};
    return ::fstat(file, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

/// Extends a file with zero bytes and reserves their room on its device. Without room, a later
/// write-back would kill the process that touches the memory. Returns false if there is no room.
[[nodiscard]] inline bool growFile(int file, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    return ::posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0;
}

/// Empties a file; false on failure.
[[nodiscard]] inline bool emptyFile(int file) noexcept {
    const ErrnoKeeper keeper;
    return ::ftruncate(file, 0) == 0;
}

/// Reads the first bytes of a file; false if it has fewer.
[[nodiscard]] inline bool readFile(int file, void* into, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    return ::pread(file, into, bytes, 0) == static_cast<ssize_t>(bytes);
}

/// Maps the first bytes of a file, shared with all processes that map it; exactly at `address` if
/// that is not 0. Returns null on failure, or if the address is in use.
[[nodiscard]] inline void* mapFile(int file, std::size_t bytes, Address address) noexcept {
    const ErrnoKeeper keeper;
    // The address as a hint, with a check of the result, works on every system.
    void* const pages =
        ::mmap(pointerTo(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (pages == MAP_FAILED) {
        return nullptr;
    }
    if (address != 0 && addressOf(pages) != address) {
        unmapPages(pages, bytes);
        return nullptr;
    }
    return pages;
}

/// Writes mapped pages of a file to its device, and waits for the end.
inline void writeOut(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    ::msync(pages, bytes, MS_SYNC);
}

/// The lock of a part of a file, between all processes that opened it. (Forked processes share the
/// files opened before the fork.)
enum class FileLock : short { none = F_UNLCK, shared = F_RDLCK, sole = F_WRLCK };

/// Changes the lock of byte `place` of a file, which need not exist. Returns false, and keeps the
/// old lock, if a lock of another process prevents it. If `wait`, waits instead.
inline bool lockFile(int file, std::size_t place, FileLock how, bool wait) noexcept {
    const ErrnoKeeper keeper;
    struct flock lock = {};
    lock.l_type = static_cast<short>(how);
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(place);
    lock.l_len = 1;
    int done = -1;
    do {
        done = ::fcntl(file, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    } while (done != 0 && errno == EINTR);
    return done == 0;
}

} // namespace heapwright::platform
