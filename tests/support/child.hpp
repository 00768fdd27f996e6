// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Child processes in tests, and a file that is removed again.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace heapwright::testing {

/// Runs `body` in a child, which ends with 0 if it answers true; kills it if it hangs.
template <class Body>
pid_t startChild(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        ::_exit(body() ? 0 : 1);
    }
    return child;
}

inline int statusOf(pid_t child) {
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

template <class Body>
int statusOfChild(Body body) {
    return statusOf(startChild(body));
}

/// A path that no other test and no other run has; what is there is removed before and after.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& name)
        : path_(::testing::TempDir() + "heapwright-" + std::to_string(::getpid()) + "-" + name) {
        ::unlink(path_.c_str());
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { ::unlink(path_.c_str()); }

    [[nodiscard]] const char* path() const { return path_.c_str(); }

private:
    std::string path_;
};

} // namespace heapwright::testing
