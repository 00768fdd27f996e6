// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Plain reads into buffers on the stack: a sample of one process costs one system call.
#include "procfs.hpp"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace heapwright::runner {

long readSmall(const char* path, char* buffer, std::size_t size) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return -1;
    }
    std::size_t length = 0;
    while (length + 1 < size) {
        const ssize_t got = read(file, buffer + length, size - 1 - length);
        if (got <= 0) {
            break;
        }
        length += static_cast<std::size_t>(got);
    }
    close(file);
    buffer[length] = '\0';
    return static_cast<long>(length);
}

std::optional<ProcessStat> readStat(pid_t pid) {
    char path[40];
    char text[512];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (readSmall(path, text, sizeof text) <= 0) {
        return std::nullopt;
    }
    // The second field is the name, in parentheses, and may contain any character.
    const char* const behindName = std::strrchr(text, ')');
    ProcessStat stat;
    if (behindName == nullptr ||
        std::sscanf(behindName + 1, " %c %d", &stat.state, &stat.parent) != 2) {
        return std::nullopt;
    }
    return stat;
}

std::string readExe(pid_t pid) {
    char path[40];
    char exe[PATH_MAX];
    std::snprintf(path, sizeof path, "/proc/%d/exe", pid);
    const ssize_t length = readlink(path, exe, sizeof exe);
    return length > 0 ? std::string(exe, static_cast<std::size_t>(length)) : std::string();
}

int openStatm(pid_t pid) {
    char path[40];
    std::snprintf(path, sizeof path, "/proc/%d/statm", pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

std::optional<std::int64_t> residentBytes(int statm) {
    static const std::int64_t page = sysconf(_SC_PAGESIZE);
    char text[128];
    const ssize_t length = pread(statm, text, sizeof text - 1, 0);
    if (length <= 0) {
        return std::nullopt;
    }
    text[length] = '\0';
    const char* const behindSize = std::strchr(text, ' ');
    return behindSize != nullptr ? std::strtoll(behindSize, nullptr, 10) * page : 0;
}

std::optional<std::int64_t> numberAfter(const char* path, const char* word) {
    char text[16384];
    if (readSmall(path, text, sizeof text) <= 0) {
        return std::nullopt;
    }
    const std::size_t length = std::strlen(word);
    for (const char* line = text; line != nullptr;) {
        if (std::strncmp(line, word, length) == 0 && line[length] == ' ') {
            return std::strtoll(line + length, nullptr, 10);
        }
        line = std::strchr(line, '\n');
        line = line != nullptr ? line + 1 : nullptr;
    }
    return std::nullopt;
}

} // namespace heapwright::runner
