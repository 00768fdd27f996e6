// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See host_conditions.hpp.
#include "host_conditions.hpp"

#include "procfs.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

namespace heapwright::runner {

namespace {

/// Reads an open file from its beginning, as far as the buffer reaches. The kernel generates its
/// text anew.
long readAgain(int file, char* buffer, std::size_t size) {
    const ssize_t length = file >= 0 ? pread(file, buffer, size - 1, 0) : -1;
    buffer[std::max<ssize_t>(length, 0)] = '\0';
    return static_cast<long>(length);
}

std::int64_t stealTicks(int file) {
    char text[512];
    long long steal = 0;
    if (readAgain(file, text, sizeof text) > 0) {
        std::sscanf(text, "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &steal);
    }
    return steal;
}

/// The kernel's count of processes killed for lack of memory: a line of a long file, of which one
/// read returns at most a page.
std::optional<std::int64_t> killsCounted(int file) {
    constexpr char name[] = "\noom_kill ";
    char text[16384];
    std::size_t length = 0;
    while (file >= 0 && length + 1 < sizeof text) {
        const ssize_t got =
            pread(file, text + length, sizeof text - 1 - length, static_cast<off_t>(length));
        if (got <= 0) {
            break;
        }
        length += static_cast<std::size_t>(got);
        text[length] = '\0';
        const char* const line = std::strstr(text, name);
        if (line != nullptr && std::strchr(line + 1, '\n') != nullptr) {
            return std::strtoll(line + sizeof name - 1, nullptr, 10);
        }
    }
    return std::nullopt;
}

/// In version 2 of control groups the file has one line, 0::/path. The command stays in this group.
std::string groupEvents() {
    char text[8192];
    if (readSmall("/proc/self/cgroup", text, sizeof text) <= 0) {
        return {};
    }
    const char* line = std::strstr(text, "0::/");
    if (line == nullptr || (line != text && line[-1] != '\n')) {
        return {};
    }
    line += 3;
    return "/sys/fs/cgroup" + std::string(line, std::strcspn(line, "\n")) + "/memory.events";
}

} // namespace

void HostConditions::prepare() {
    constexpr int how = O_RDONLY | O_CLOEXEC;
    loadFile_ = open("/proc/loadavg", how);
    statFile_ = open("/proc/stat", how);
    eventsFile_ = open("/proc/vmstat", how);
    groupEvents_ = groupEvents();
    prepared_ = true;
}

void HostConditions::begin() {
    if (!prepared_) {
        prepare();
    }
    char text[128];
    if (readAgain(loadFile_, text, sizeof text) > 0) {
        // Three averages, then the runnable and all threads: "0.50 0.40 0.30 2/345 6789".
        long runnable = 0;
        std::sscanf(text, "%lf %*f %*f %ld/", &load_, &runnable);
        runnable_ = std::max(runnable - 1, 0L); // the thread that reads the file is one of them
    }
    steal_ = stealTicks(statFile_);
    oomSystem_ = killsCounted(eventsFile_).value_or(0);
    oomGroup_ = numberAfter(groupEvents_.c_str(), "oom_kill").value_or(0);
}

double HostConditions::stealSeconds() const {
    return static_cast<double>(stealTicks(statFile_) - steal_) /
           static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::int64_t HostConditions::oomKills() const {
    const std::int64_t group = numberAfter(groupEvents_.c_str(), "oom_kill").value_or(oomGroup_);
    const std::int64_t system = killsCounted(eventsFile_).value_or(oomSystem_);
    return std::max(system - oomSystem_, group - oomGroup_);
}

} // namespace heapwright::runner
