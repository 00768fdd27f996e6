// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The command under valgrind, in a process group of its own, with its log in a pipe. It does not
// outlive this program: the kernel kills it when this program dies, and `end` kills the rest of its
// group. A command that may read from a terminal stays in this program's group, because only the
// terminal's foreground group can read.
#pragma once

#include <string>
#include <sys/types.h>

namespace heapwright::valgrind {

class Child {
public:
    Child() = default;
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child();

    /// Starts the command. Returns false, with the reason, on failure. `option` is one more option
    /// for valgrind, or null.
    bool start(char** command, const char* option, std::string& reason);

    pid_t pid() const { return pid_; }
    int log() const { return log_; }

    /// True after it has ended; `status()` is then that of waitpid.
    bool ended();
    int status() const { return status_; }

    /// Ends it and its group, and waits for it.
    void end();

private:
    pid_t pid_ = -1;
    int log_ = -1;
    int status_ = 0;
    bool apart_ = false; ///< it has a process group of its own
    bool ended_ = false;
};

} // namespace heapwright::valgrind
