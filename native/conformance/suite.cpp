// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Helpers of the cases; see suite.hpp.
#include "suite.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace conformance {

namespace {

constexpr unsigned childSeconds = 30;

const Case*& list() {
    static const Case* head = nullptr;
    return head;
}

[[noreturn]] void finish(int status, const char* line, int length) {
    [[maybe_unused]] const ssize_t written =
        ::write(STDOUT_FILENO, line, static_cast<std::size_t>(std::max(length, 0)));
    ::_exit(status);
}

unsigned char patternAt(std::size_t index, unsigned seed) {
    return static_cast<unsigned char>((index * 131U + seed * 2654435761U + 1) >> 3U);
}

/// A figure of the process in bytes: the number at `position` in its statm.
std::size_t inUse(int position) {
    char text[128] = {};
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fgets(text, sizeof text, file) == nullptr) {
        skip("/proc/self/statm cannot be read");
    }
    std::fclose(file);
    char* rest = text;
    std::size_t pages = 0;
    for (int i = 0; i <= position; ++i) {
        pages = std::strtoull(rest, &rest, 10);
    }
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Sets the soft limit, not the hard one. The type of a limit's name differs between C libraries.
template <class Limit>
bool limitTo(Limit what, rlim_t bytes) {
    rlimit limit{};
    ::getrlimit(what, &limit);
    limit.rlim_cur = bytes;
    return ::setrlimit(what, &limit) == 0;
}

} // namespace

Case::Case(const char* name, Demand demand, const char* what, void (*body)())
    : name_(name), demand_(demand), what_(what), body_(body), next_(list()) {
    list() = this;
}

const Case* Case::first() {
    return list();
}

const Case* Case::find(const char* name) {
    const Case* found = list();
    while (found != nullptr && std::strcmp(found->name(), name) != 0) {
        found = found->next();
    }
    return found;
}

void fail(const char* what, Location where) {
    const char* file = std::strrchr(where.file, '/');
    char line[512];
    finish(1, line,
           std::snprintf(line, sizeof line, "fail: %s (%s:%u)\n", what,
                         file == nullptr ? where.file : file + 1, where.line));
}

void skip(const char* why) {
    char line[512];
    finish(77, line, std::snprintf(line, sizeof line, "skip: %s\n", why));
}

void inChild(void (*body)(), const char* what, Location where) {
    const pid_t child = ::fork();
    require(child >= 0, "fork", where);
    if (child == 0) {
        ::signal(SIGALRM, SIG_DFL);
        ::alarm(childSeconds);
        body();
        ::_exit(0);
    }
    expectSuccess(child, what, where);
}

void expectSuccess(int child, const char* what, Location where) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        require(errno == EINTR, "waitpid", where);
    }
    if (WIFSIGNALED(status)) {
        char text[256];
        std::snprintf(text, sizeof text, "%s: the child died of signal %d%s", what,
                      WTERMSIG(status), WTERMSIG(status) == SIGALRM ? " (it hung)" : "");
        fail(text, where);
    }
    if (WEXITSTATUS(status) == 77) {
        ::_exit(77); // the child has printed the reason
    }
    require(WEXITSTATUS(status) == 0, what, where);
}

void fill(void* object, std::size_t size, unsigned seed) {
    auto* bytes = static_cast<unsigned char*>(object);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = patternAt(i, seed);
    }
}

void requireFilled(const void* object, std::size_t size, unsigned seed, Location where) {
    const auto* bytes = static_cast<const unsigned char*>(object);
    for (std::size_t i = 0; i < size; ++i) {
        require(bytes[i] == patternAt(i, seed), "an object's content has changed", where);
    }
}

void requireZero(const void* object, std::size_t size, Location where) {
    const auto* bytes = static_cast<const unsigned char*>(object);
    require(std::all_of(bytes, bytes + size, [](unsigned char byte) { return byte == 0; }),
            "memory is not zero", where);
}

void requireAligned(const void* object, std::size_t alignment, Location where) {
    require((reinterpret_cast<std::uintptr_t>(object) & (alignment - 1)) == 0,
            "an object is not aligned as it must be", where);
}

std::size_t alignmentFor(std::size_t size) {
    return std::clamp(std::bit_floor(size), std::size_t{8}, alignof(std::max_align_t));
}

void limitAddressSpace(std::size_t more) {
    if (!limitTo(RLIMIT_AS, inUse(0) + more)) {
        skip("the address space cannot be limited here");
    }
}

void limitData(std::size_t more) {
    if (!limitTo(RLIMIT_DATA, inUse(5) + more)) {
        skip("memory to write cannot be limited here");
    }
}

void unlimit() {
    for (const auto what : {RLIMIT_AS, RLIMIT_DATA}) {
        rlimit limit{};
        ::getrlimit(what, &limit);
        require(limitTo(what, limit.rlim_max), "setrlimit");
    }
}

const char* pluginPath(const char* file) {
    static char path[4096];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 256);
    require(length > 0, "/proc/self/exe cannot be read");
    path[length] = '\0';
    for (int i = 0; i < 2; ++i) { // the program's name, and bin
        char* slash = std::strrchr(path, '/');
        require(slash != nullptr, "the program's path has no folder");
        *slash = '\0';
    }
    std::strcat(path, "/lib/conformance/");
    std::strcat(path, file);
    if (::access(path, R_OK) != 0) {
        skip("the suite's plugins are not installed beside the program");
    }
    return path;
}

} // namespace conformance
