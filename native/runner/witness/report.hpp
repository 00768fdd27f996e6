// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a process writes into the shared file, and the state for it. All functions allocate nothing,
// keep errno inside a KeepErrno, and may be called from a signal handler or a vfork child.
//
// Invariant: a vfork child, which shares the parent's memory, changes no variable. `self` is
// written only at the start and by the fork handlers, which run only in real copies of the process.
#pragma once

#include "format.hpp"

#include <cerrno>
#include <cstdint>
#include <sys/resource.h>
#include <time.h>

namespace heapwright::runner::witness {

struct Self {
    File* file = nullptr;     ///< null: not requested, or reporting has ended
    Record* record = nullptr; ///< null also if all records were taken
    std::int32_t pid = 0;
    std::uint16_t exe = 0;
    std::uint16_t provider = 0;
    std::uint32_t traits = 0; ///< `libcProvides` or 0
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

/// Maps the shared file and claims the record of this process.
void open(const char* path);

/// The last report before the end. In a process created by a direct clone call, also the first.
void finish();

void noteForkInParent();
void noteForkInChild();

/// From now on the witness makes no system call.
void noteSandbox();

/// Records that the process is about to exec that program; returns whether it could be recorded. If
/// the exec fails, `noteExecFailed` reverts it.
bool noteExec(const char* program);
void noteExecFailed();

/// Finds the C library's exec family while that is safe: not in the child of a fork with threads.
void findExecs();

/// Records a child that was waited for.
void noteReaped(std::int32_t pid, int status, const rusage& usage);

} // namespace heapwright::runner::witness
