// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the endurance run says of itself: a line of JSON each few seconds.
#pragma once

#include "endurance_objects.hpp"

#include <cstdint>
#include <cstdio>
#include <unistd.h>

namespace endurance {

inline std::uint64_t residentBytes() {
    std::FILE* const file = std::fopen("/proc/self/statm", "re");
    unsigned long long pages = 0;
    if (file == nullptr || std::fscanf(file, "%*u %llu", &pages) != 1) {
        noMemory();
    }
    std::fclose(file);
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

struct Figures {
    std::uint64_t operations = 0;
    std::uint64_t live = 0;
    std::uint64_t mostLive = 0;
    std::uint64_t resident = 0;
    std::uint64_t mostResident = 0;
    unsigned forks = 0;
    unsigned lives = 0;

    void say(bool done) const {
        std::printf(
            "{\"operations\": %llu, \"live\": %llu, \"most_live\": %llu, \"resident\": "
            "%llu, \"most_resident\": %llu, \"forks\": %u, \"lives\": %u, \"done\": %s}\n",
            static_cast<unsigned long long>(operations), static_cast<unsigned long long>(live),
            static_cast<unsigned long long>(mostLive), static_cast<unsigned long long>(resident),
            static_cast<unsigned long long>(mostResident), forks, lives, done ? "true" : "false");
        std::fflush(stdout);
    }
};

} // namespace endurance
