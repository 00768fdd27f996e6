// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See file.hpp. Calls go straight to the kernel: the program may have an open or mmap of its own.
#include "file.hpp"

#include <heapwright/platform/errno_keeper.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::recorder {

namespace {

using platform::ErrnoKeeper;

constexpr std::uint64_t leastReserve = 1 << 20;
constexpr std::uint64_t mostReserve = 16 << 20;

/// Blocks SIGXFSZ. The kernel sends it when a file exceeds the size limit, and it would end the
/// program.
class NoLimitSignal {
public:
    NoLimitSignal() noexcept {
        ::sigemptyset(&ours_);
        ::sigaddset(&ours_, SIGXFSZ);
        ::sigset_t pending;
        ::sigemptyset(&pending);
        ::sigpending(&pending);
        wasPending_ = ::sigismember(&pending, SIGXFSZ) == 1;
        ::pthread_sigmask(SIG_BLOCK, &ours_, &before_);
    }
    NoLimitSignal(const NoLimitSignal&) = delete;
    NoLimitSignal& operator=(const NoLimitSignal&) = delete;
    ~NoLimitSignal() {
        const struct timespec now = {};
        while (!wasPending_ && ::sigtimedwait(&ours_, nullptr, &now) > 0) {
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    ::sigset_t ours_;
    ::sigset_t before_;
    bool wasPending_ = false;
};

/// The number of a descriptor for the file, high where no program looks; -1 if there is none.
int openHigh(const char* path) noexcept {
    const long low = ::syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOCTTY, 0);
    if (low < 0) {
        return -1;
    }
    constexpr int firstHigh = 500;
    const long high = ::syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, firstHigh);
    if (high < 0) {
        return static_cast<int>(low);
    }
    ::syscall(SYS_close, low);
    return static_cast<int>(high);
}

void* mapShared(int descriptor, std::uint64_t offset, std::size_t bytes, int flags) noexcept {
    const long address = ::syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | flags, descriptor, offset);
    return address == -1 ? nullptr : reinterpret_cast<void*>(address);
}

bool isOurs(const trace::FileHeader& header) noexcept {
    return std::memcmp(header.magic, trace::fileMagic, sizeof header.magic) == 0 &&
           header.version == trace::formatVersion && header.byteOrder == trace::byteOrderMark &&
           header.headerSize == trace::pageSize && header.closed == 0;
}

std::atomic_ref<std::uint64_t> shared(std::uint64_t& word) noexcept {
    return std::atomic_ref<std::uint64_t>(word);
}

} // namespace

bool TraceFile::open(const char* path) noexcept {
    const ErrnoKeeper keeper;
    const std::size_t length = std::strlen(path);
    if (length >= sizeof path_) {
        return false;
    }
    std::memcpy(path_, path, length + 1);
    descriptor_ = openHigh(path_);
    identity_ = platform::identityOf(descriptor_);
    const bool whole = descriptor_ >= 0 && ::syscall(SYS_lseek, descriptor_, 0, SEEK_END) >=
                                               static_cast<long>(trace::pageSize);
    void* const page = whole ? mapShared(descriptor_, 0, trace::pageSize, 0) : nullptr;
    if (page != nullptr && isOurs(*static_cast<trace::FileHeader*>(page))) {
        header_ = static_cast<trace::FileHeader*>(page);
        return true;
    }
    if (page != nullptr) {
        unmap(page, trace::pageSize);
    }
    if (descriptor_ >= 0) {
        ::syscall(SYS_close, descriptor_);
    }
    return false;
}

void TraceFile::close() noexcept {
    const ErrnoKeeper keeper;
    if (descriptor_ >= 0 && platform::identityOf(descriptor_) == identity_) {
        ::syscall(SYS_close, descriptor_);
    }
    descriptor_ = -1;
}

void* TraceFile::claim(std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    if (header_ == nullptr ||
        std::atomic_ref(header_->stop).load(std::memory_order_relaxed) != trace::Stop::none) {
        return nullptr;
    }
    const std::uint64_t begin = shared(header_->claimed).fetch_add(bytes);
    const std::uint64_t end = begin + bytes;
    void* block = nullptr;
    if (header_->limit != 0 && end > header_->limit) {
        stop(trace::Stop::limit);
    } else if (ensureDescriptor() && reserve(begin, end)) {
        block = mapShared(descriptor_, begin, bytes, MAP_POPULATE);
        if (block == nullptr) {
            stop(trace::Stop::failed);
        }
    }
    if (block == nullptr) { // leave no gap, unless another claim lies beyond it
        std::uint64_t expected = end;
        shared(header_->claimed).compare_exchange_strong(expected, begin);
    }
    return block;
}

void TraceFile::unmap(void* block, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    ::syscall(SYS_munmap, block, bytes);
}

/// Makes sure that the file has these bytes, and some more so that the next need not ask.
bool TraceFile::reserve(std::uint64_t begin, std::uint64_t end) noexcept {
    auto reserved = shared(header_->reserved);
    const std::uint64_t already = reserved.load(std::memory_order_acquire);
    if (end <= already) {
        return true;
    }
    const NoLimitSignal noSignal;
    const std::uint64_t ahead = std::clamp(end / 8, leastReserve, mostReserve);
    std::uint64_t promised = end + ahead;
    if (!promise(already, promised)) {
        promised = end;
        if (errno == EOPNOTSUPP || errno == ENOSYS) {
            return fill(begin, end);
        }
        if (!promise(already < begin ? already : begin, end)) {
            stop(errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? trace::Stop::diskFull
                                                                      : trace::Stop::failed);
            return false;
        }
    }
    std::uint64_t before = already;
    while (before < promised && !reserved.compare_exchange_weak(before, promised)) {
    }
    return true;
}

bool TraceFile::promise(std::uint64_t begin, std::uint64_t end) noexcept {
    long result = -1;
    do {
        result = ::syscall(SYS_fallocate, descriptor_, 0, begin, end - begin);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

/// For file systems that cannot promise space: writes zeros, which the file system must then keep.
/// Only space that this process claimed may be written.
bool TraceFile::fill(std::uint64_t begin, std::uint64_t end) noexcept {
    alignas(8) static constexpr char zeros[trace::pageSize] = {};
    for (std::uint64_t at = begin; at < end; at += sizeof zeros) {
        const long written = ::syscall(SYS_pwrite64, descriptor_, zeros, sizeof zeros, at);
        if (written != static_cast<long>(sizeof zeros)) {
            stop(trace::Stop::diskFull);
            return false;
        }
    }
    return true;
}

bool TraceFile::ensureDescriptor() noexcept {
    if (descriptor_ >= 0 && platform::identityOf(descriptor_) == identity_) {
        return true;
    }
    const int again = openHigh(path_);
    if (again >= 0 && platform::identityOf(again) == identity_) {
        descriptor_ = again;
        return true;
    }
    if (again >= 0) {
        ::syscall(SYS_close, again);
    }
    stop(trace::Stop::failed);
    return false;
}

void TraceFile::stop(trace::Stop why) noexcept {
    auto word = std::atomic_ref(header_->stop);
    trace::Stop expected = trace::Stop::none;
    word.compare_exchange_strong(expected, why);
    std::atomic_ref(header_->recording).store(0);
}

} // namespace heapwright::recorder
