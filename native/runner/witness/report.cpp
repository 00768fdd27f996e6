// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See report.hpp.
#include "report.hpp"

#include "provider.hpp"

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::runner::witness {

constinit Self self;

namespace {

rusage ownUsage() {
    rusage usage{};
    syscall(SYS_getrusage, RUSAGE_SELF, &usage);
    return usage;
}

/// 1 + the index of the text in the file's table; 0 if the table is full. A long text loses its
/// beginning.
std::uint16_t intern(File& file, const char* text) {
    std::size_t length = std::strlen(text);
    if (length >= sizeof(Text::bytes)) {
        text += length - (sizeof(Text::bytes) - 1);
        length = sizeof(Text::bytes) - 1;
    }
    std::uint64_t hash = 14695981039346656037U;
    for (std::size_t i = 0; i < length; ++i) {
        hash = (hash ^ static_cast<unsigned char>(text[i])) * 1099511628211U;
    }
    hash |= 1U;
    for (std::uint32_t i = 0; i < textCapacity; ++i) {
        const std::uint64_t at = (hash + i) % textCapacity;
        Text& place = file.texts[at];
        std::uint64_t seen = 0;
        if (place.hash.compare_exchange_strong(seen, hash)) {
            std::memcpy(place.bytes, text, length); // the zero byte is already there
            place.ready.store(1, std::memory_order_release);
            return static_cast<std::uint16_t>(at + 1);
        }
        if (seen == hash) {
            return static_cast<std::uint16_t>(at + 1);
        }
    }
    return 0;
}

/// Claims and fills a record for the calling process; null if all are taken. Writes no variable of
/// this object.
Record* claim(std::int32_t pid, std::uint32_t kind, std::uint64_t cpuStart) {
    const std::uint64_t index = self.file->claimed.fetch_add(1, std::memory_order_relaxed);
    if (index >= recordCapacity) {
        return nullptr;
    }
    Record& record = self.file->records[index];
    record.pid = pid;
    record.parent = static_cast<std::int32_t>(syscall(SYS_getppid));
    record.exe = self.exe;
    record.provider = self.provider;
    record.startNs = clockNs(CLOCK_MONOTONIC);
    record.cpuStartNs = record.cpuNs = cpuStart;
    record.peakStartKb = kind == 0 ? static_cast<std::uint32_t>(ownUsage().ru_maxrss) : 0;
    record.state.store(published | kind | self.traits, std::memory_order_release);
    return &record;
}

/// By direct system calls, because the program may define its own open or mmap. Null on any
/// failure.
File* openFile(const char* path) {
    const long descriptor = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOCTTY, 0);
    if (descriptor < 0) {
        return nullptr;
    }
    const bool whole = syscall(SYS_lseek, descriptor, 0, SEEK_END) == long{sizeof(File)};
    const long address = whole ? syscall(SYS_mmap, nullptr, sizeof(File), PROT_READ | PROT_WRITE,
                                         MAP_SHARED, descriptor, 0)
                               : -1;
    syscall(SYS_close, descriptor);
    if (address == -1) {
        return nullptr;
    }
    File* const file = reinterpret_cast<File*>(address);
    return file->magic == magic ? file : nullptr;
}

} // namespace

std::uint64_t clockNs(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

std::int32_t ownPid() {
    return static_cast<std::int32_t>(syscall(SYS_getpid));
}

bool isSandboxed() {
    return self.record != nullptr &&
           (self.record->state.load(std::memory_order_relaxed) & sandboxed) != 0;
}

void open(const char* path) {
    self.file = openFile(path);
    if (self.file == nullptr) {
        return;
    }
    char exe[4096];
    const long length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", exe, sizeof exe - 1);
    exe[length > 0 ? length : 0] = '\0';
    if (length > 0) {
        self.exe = intern(*self.file, exe);
    }
    Provider provider;
    findProvider(provider, exe);
    self.provider = intern(*self.file, provider.path);
    self.traits = provider.isLibc ? libcProvides : 0U;
    self.pid = ownPid();
    self.record = claim(self.pid, 0, clockNs(CLOCK_PROCESS_CPUTIME_ID));
}

void finish() {
    if (self.file == nullptr) {
        return;
    }
    Record* record = self.record;
    if (isSandboxed()) {
        record->state.fetch_or(exited, std::memory_order_release);
        return;
    }
    const std::int32_t pid = ownPid();
    if (pid != self.pid) {
        record = claim(pid, late, 0);
    }
    if (record == nullptr) {
        return;
    }
    const rusage usage = ownUsage();
    record->peakKb = static_cast<std::uint32_t>(usage.ru_maxrss);
    record->faults = static_cast<std::uint32_t>(usage.ru_minflt);
    record->endNs = clockNs(CLOCK_MONOTONIC);
    record->cpuNs = clockNs(CLOCK_PROCESS_CPUTIME_ID);
    record->state.fetch_or(exited, std::memory_order_release);
}

/// Records the parent's CPU time, in case it never reports again.
void noteForkInParent() {
    if (self.record != nullptr && !isSandboxed()) {
        self.record->cpuNs = clockNs(CLOCK_PROCESS_CPUTIME_ID);
    }
}

void noteForkInChild() {
    if (self.file == nullptr) {
        return;
    }
    if (isSandboxed()) {
        self.file = nullptr; // reports nothing from now on; only observed from outside
        self.record = nullptr;
        return;
    }
    self.pid = ownPid();
    self.record = claim(self.pid, forked, 0);
}

void noteSandbox() {
    if (self.record != nullptr && !isSandboxed() && ownPid() == self.pid) {
        self.record->cpuNs = clockNs(CLOCK_PROCESS_CPUTIME_ID);
        self.record->state.fetch_or(sandboxed, std::memory_order_relaxed);
    }
}

bool noteExec(const char* program) {
    if (self.record == nullptr || isSandboxed() || ownPid() != self.pid) {
        return false; // a vfork child has no record of its own
    }
    const KeepErrno keep;
    self.record->successor = program != nullptr ? intern(*self.file, program) : std::uint16_t{0};
    self.record->cpuNs = clockNs(CLOCK_PROCESS_CPUTIME_ID);
    self.record->state.fetch_or(replacing, std::memory_order_release);
    return true;
}

void noteExecFailed() {
    self.record->state.fetch_and(~std::uint32_t{replacing}, std::memory_order_release);
}

void noteReaped(std::int32_t pid, int status, const rusage& usage) {
    if (self.file == nullptr || isSandboxed()) {
        return;
    }
    const std::uint64_t index = self.file->claimedReaped.fetch_add(1, std::memory_order_relaxed);
    if (index >= recordCapacity) {
        return;
    }
    const auto microseconds = [](const timeval& time) {
        return static_cast<std::uint64_t>(time.tv_sec) * 1000000U +
               static_cast<std::uint64_t>(time.tv_usec);
    };
    Reaped& reaped = self.file->reaped[index];
    reaped.pid = pid;
    reaped.reaper = ownPid();
    reaped.status = status;
    reaped.cpuNs = 1000U * (microseconds(usage.ru_utime) + microseconds(usage.ru_stime));
    reaped.timeNs = clockNs(CLOCK_MONOTONIC);
    reaped.peakKb = static_cast<std::uint32_t>(usage.ru_maxrss);
    reaped.faults = static_cast<std::uint32_t>(usage.ru_minflt);
    reaped.state.store(published, std::memory_order_release);
}

} // namespace heapwright::runner::witness
