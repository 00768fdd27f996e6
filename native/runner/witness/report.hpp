// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a process writes into the shared file, and the little state that this takes. Everything here
// leaves errno alone when it is wrapped in KeepErrno, allocates nothing, and may be called from a
// signal handler or from a vfork child.
//
// Invariant: a process that shares our memory without being us (a vfork child) changes no variable:
// `self` is written at the start and by the fork handlers alone, which run in true copies only.
#pragma once

#include "format.hpp"

#include <cerrno>
#include <cstdint>
#include <sys/resource.h>
#include <time.h>

namespace heapwright::runner::witness {

struct Self {
    File* file = nullptr;     ///< null: nobody asked, or we must not speak any more
    Record* record = nullptr; ///< null also when all records were taken
    std::int32_t pid = 0;
    std::uint16_t exe = 0;
    std::uint16_t provider = 0;
    std::uint32_t traits = 0; ///< `libcProvides` or nothing
};

extern Self self;

class KeepErrno {
public:
    KeepErrno() : kept_(errno) {}
    ~KeepErrno() { errno = kept_; }
    KeepErrno(const KeepErrno&) = delete;
    KeepErrno& operator=(const KeepErrno&) = delete;

private:
    int kept_;
};

std::uint64_t clockNs(clockid_t clock);
std::int32_t ownPid();
bool isSandboxed();

/// Finds and maps the shared file, and opens the record of this process.
void open(const char* path);

/// The last word before the end. In a process that was cloned behind our back also the first.
void finish();

void noteForkInParent();
void noteForkInChild();

/// From here on no call to the system may be made on the program's behalf.
void noteSandbox();

/// The process is about to become that program; whether that could be written down. If it could,
/// and the program could not be executed after all, `noteExecFailed` takes it back.
bool noteExec(const char* program);
void noteExecFailed();

/// Finds the C library's exec family while that is safe: not in the child of a fork with threads.
void findExecs();

/// A child was waited for.
void noteReaped(std::int32_t pid, int status, const rusage& usage);

} // namespace heapwright::runner::witness
