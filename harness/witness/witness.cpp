// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The witness: preloaded after the allocator into every process of a run, it writes down who
// provides malloc there, and at the end how much CPU time the process used. It defines no
// allocation routine, calls none, and leaves errno as it was.
//
// Invariants:
//  - a process that shares our memory without being us (a vfork child) changes none of our
//  variables:
//    only the fork handlers write them, and these run in true copies alone;
//  - an exit costs two calls to the system, or none at all once the process has locked itself into
//  a
//    sandbox, where a call that its author did not foresee could be its death;
//  - the mapping is made once and kept, so closed descriptors, chroot and a lost environment do not
//    matter to a process that has started.
#include "format.hpp"
#include "provider.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

namespace heapwright::witness {

namespace {

struct Self {
    File* file = nullptr;
    Record* record = nullptr; ///< null also when all records were taken
    std::int32_t pid = 0;
    std::uint16_t exe = 0;
    std::uint16_t provider = 0;
    std::uint32_t traits = 0; ///< `libcProvides` or nothing
};

constinit Self self;

class KeepErrno {
public:
    KeepErrno() : kept_(errno) {}
    ~KeepErrno() { errno = kept_; }
    KeepErrno(const KeepErrno&) = delete;
    KeepErrno& operator=(const KeepErrno&) = delete;

private:
    int kept_;
};

std::uint64_t clockNs(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

std::int32_t ownPid() {
    return static_cast<std::int32_t>(syscall(SYS_getpid));
}

std::uint32_t kernelPeakKb() {
    rusage usage{};
    syscall(SYS_getrusage, RUSAGE_SELF, &usage);
    return static_cast<std::uint32_t>(usage.ru_maxrss);
}

/// 1 + the index of the text in the file's table; 0 when the table is full. A long one loses its
/// head.
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
            std::memcpy(place.bytes, text, length); // the zero byte is there already
            place.ready.store(1, std::memory_order_release);
            return static_cast<std::uint16_t>(at + 1);
        }
        if (seen == hash) {
            return static_cast<std::uint16_t>(at + 1);
        }
    }
    return 0;
}

/// A record for the calling process, filled in; null when all are taken. Writes no variable of
/// ours.
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
    record.peakStartKb = kind == 0 ? kernelPeakKb() : 0;
    record.state.store(published | kind | self.traits, std::memory_order_release);
    return &record;
}

bool isSandboxed() {
    return self.record != nullptr &&
           (self.record->state.load(std::memory_order_relaxed) & sandboxed) != 0;
}

void finish() {
    if (self.file == nullptr) {
        return;
    }
    const KeepErrno keep;
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
    record->peakKb = kernelPeakKb();
    record->endNs = clockNs(CLOCK_MONOTONIC);
    record->cpuNs = clockNs(CLOCK_PROCESS_CPUTIME_ID);
    record->state.fetch_or(exited, std::memory_order_release);
}

/// What the parent has used so far, in case that nothing else is heard from it.
void afterForkInParent() {
    if (self.record != nullptr && !isSandboxed()) {
        const KeepErrno keep;
        self.record->cpuNs = clockNs(CLOCK_PROCESS_CPUTIME_ID);
    }
}

void afterForkInChild() {
    const KeepErrno keep;
    if (isSandboxed()) {
        self.file = nullptr; // silent from here on; seen from outside only
        self.record = nullptr;
        return;
    }
    self.pid = ownPid();
    self.record = claim(self.pid, forked, 0);
}

const char* valueOf(const char* name, char** environment) {
    const std::size_t length = std::strlen(name);
    for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
        if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
            return *entry + length + 1;
        }
    }
    return nullptr;
}

/// Straight to the kernel: the program may have its own open or mmap. Null if anything is amiss.
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

/// The loader hands the environment over, so that no getenv of the program's own is called.
__attribute__((constructor)) void begin(int, char**, char** environment) {
    const KeepErrno keep;
    const char* const path = valueOf(variable, environment);
    if (path == nullptr || (self.file = openFile(path)) == nullptr) {
        return;
    }
    Provider provider;
    findProvider(provider);
    self.provider = intern(*self.file, provider.path);
    self.traits = provider.isLibc ? libcProvides : 0U;
    char exe[4096];
    const long length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", exe, sizeof exe - 1);
    if (length > 0) {
        exe[length] = '\0';
        self.exe = intern(*self.file, exe);
    }
    self.pid = ownPid();
    self.record = claim(self.pid, 0, clockNs(CLOCK_PROCESS_CPUTIME_ID));
    pthread_atfork(nullptr, &afterForkInParent, &afterForkInChild);
    at_quick_exit(&finish);
}

__attribute__((destructor)) void end() {
    finish();
}

[[noreturn]] void leave(int status) {
    finish();
    for (;;) {
        syscall(SYS_exit_group, status);
    }
}

} // namespace

} // namespace heapwright::witness

extern "C" {

EXPORT void _exit(int status) {
    heapwright::witness::leave(status);
}
EXPORT void _Exit(int status) noexcept {
    heapwright::witness::leave(status);
}

/// Whoever locks himself in says so here first; after that we are silent.
EXPORT int prctl(int option, ...) noexcept {
    va_list list;
    va_start(list, option);
    const unsigned long a = va_arg(list, unsigned long);
    const unsigned long b = va_arg(list, unsigned long);
    const unsigned long c = va_arg(list, unsigned long);
    const unsigned long d = va_arg(list, unsigned long);
    va_end(list);
    using namespace heapwright::witness;
    if ((option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP) && self.record != nullptr &&
        ownPid() == self.pid && !isSandboxed()) {
        self.record->cpuNs = clockNs(CLOCK_PROCESS_CPUTIME_ID);
        self.record->state.fetch_or(sandboxed, std::memory_order_relaxed);
    }
    return static_cast<int>(syscall(SYS_prctl, option, a, b, c, d));
}
}
