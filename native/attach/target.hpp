// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The process to attach to: whether that is safe, and where in it the functions are that attaching
// needs.
#pragma once

#include "memory.hpp"
#include "symbols.hpp"

#include "look/image.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace heapwright::attach {

/// Attaching would be unsafe, or is impossible. The process is unchanged.
class Refusal : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The system does not permit it.
class Denial : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The process does not exist.
class Ended : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Range {
    Address begin;
    Address end;

    bool holds(Address at) const { return at >= begin && at < end; }
};

/// The file name of the agent.
inline constexpr char agentName[] = "libheapwright-attached.so";

/// Whether a thread of the process has the agent in its memory, or may have it, because the
/// mappings cannot be read. Unlike `Target`, this also serves a process whose first thread has
/// ended.
bool mayHoldAgent(pid_t pid);

class Target {
public:
    enum class Purpose { begin, stop };

    /// Throws Refusal, Denial or Ended. To stop, only the libraries are checked.
    Target(pid_t pid, Purpose purpose);

    pid_t pid() const { return pid_; }
    std::vector<look::Mapping> mappings() const;
    std::vector<pid_t> threads() const;
    bool isAlive() const;

    const Function& dlopen() const { return dlopen_; }
    const Function& dlclose() const { return dlclose_; }
    Address signalReturn() const { return signalReturn_; }

    /// Code in which a thread must not be when it is made to call a function. It is that of the
    /// allocator, of the loader, and of functions that hold a lock of either.
    const std::vector<Range>& unsafe() const { return unsafe_; }

    /// The agent that is loaded; nothing if there is none.
    Symbols agent() const;
    bool hasAgent() const;

private:
    void checkStatus() const;
    void checkOwner() const;
    void checkLibraries(Purpose purpose);
    void findFunctions(Address libc);
    void addAllocators();
    Address findSignalReturn(const Symbols& libc) const;

    pid_t pid_;
    std::string folder_;
    std::string started_;
    Address libc_ = 0;
    Function dlopen_;
    Function dlclose_;
    Address signalReturn_ = 0;
    std::vector<Range> unsafe_;
};

} // namespace heapwright::attach
