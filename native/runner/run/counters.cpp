// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See counters.hpp, and perf_event_open(2) for what inherit and enable_on_exec do.
#include "counters.hpp"

#include <cstdint>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::runner {

namespace {

struct Kind {
    const char* name;
    std::uint64_t config;
};

constexpr Kind kinds[] = {{"instructions", PERF_COUNT_HW_INSTRUCTIONS},
                          {"cycles", PERF_COUNT_HW_CPU_CYCLES},
                          {"cache-misses", PERF_COUNT_HW_CACHE_MISSES},
                          {"branch-misses", PERF_COUNT_HW_BRANCH_MISSES}};

int openCounter(const Kind& kind) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = kind.config;
    attributes.disabled = 1;
    attributes.inherit = 1;
    attributes.enable_on_exec = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1,
                                    static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC)));
}

} // namespace

void Counters::open() {
    for (const Kind& kind : kinds) {
        const int file = openCounter(kind);
        if (file >= 0) {
            counters_.push_back({kind.name, file});
        }
    }
}

std::vector<Counters::Value> Counters::read() const {
    std::vector<Value> values;
    for (const Counter& counter : counters_) {
        struct {
            std::uint64_t count, enabled, running;
        } seen{};
        if (::read(counter.file, &seen, sizeof seen) == sizeof seen && seen.running > 0) {
            const double share =
                static_cast<double>(seen.enabled) / static_cast<double>(seen.running);
            values.push_back({counter.name, static_cast<double>(seen.count) * share});
        }
    }
    return values;
}

} // namespace heapwright::runner
