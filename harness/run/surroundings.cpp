// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See surroundings.hpp.
#include "surroundings.hpp"

#include "procfs.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace heapwright::harness {

namespace {

std::int64_t stealTicks() {
    char text[512];
    long long steal = 0;
    if (readSmall("/proc/stat", text, sizeof text) > 0) {
        std::sscanf(text, "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &steal);
    }
    return steal;
}

/// Version 2 of the control groups has one line, 0::/path; the command stays in this group.
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

void Surroundings::begin() {
    char text[128];
    if (readSmall("/proc/loadavg", text, sizeof text) > 0) {
        load_ = std::strtod(text, nullptr);
    }
    steal_ = stealTicks();
    oomSystem_ = numberAfter("/proc/vmstat", "oom_kill").value_or(0);
    groupEvents_ = groupEvents();
    oomGroup_ = numberAfter(groupEvents_.c_str(), "oom_kill").value_or(0);
}

double Surroundings::stealSeconds() const {
    return static_cast<double>(stealTicks() - steal_) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::int64_t Surroundings::oomKills() const {
    const auto since = [](const char* path, std::int64_t before) {
        return numberAfter(path, "oom_kill").value_or(before) - before;
    };
    return std::max(since("/proc/vmstat", oomSystem_), since(groupEvents_.c_str(), oomGroup_));
}

} // namespace heapwright::harness
