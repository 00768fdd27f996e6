// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See memory.hpp. The kernel's files are read through descriptors and buffers on the stack: stdio
// would allocate.
#include "memory.hpp"

#include "fatal_error.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace heapwright::workloads {

namespace {

std::atomic<std::size_t> mapped{0};

std::size_t rounded(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    return (bytes + page - 1) & ~(page - 1);
}

/// Reads a file of /proc; the text ends in a zero byte, and is empty if it cannot be read.
template <std::size_t Size>
void readInto(char (&text)[Size], const char* path) {
    text[0] = '\0';
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    const ssize_t got = read(file, text, Size - 1);
    text[got > 0 ? got : 0] = '\0';
    close(file);
}

} // namespace

void* mapPages(std::size_t bytes) {
    const std::size_t length = rounded(bytes);
    // Counted before the mapping, so a concurrent reader sees too little of the allocator's memory,
    // and never the program's own.
    mapped.fetch_add(length, std::memory_order_relaxed);
    void* const pages = length < bytes ? MAP_FAILED
                                       : mmap(nullptr, length, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (pages == MAP_FAILED) {
        noMemory("the program's own tables", bytes);
    }
    return pages;
}

void unmapPages(void* pages, std::size_t bytes) {
    const std::size_t length = rounded(bytes);
    munmap(pages, length);
    mapped.fetch_sub(length, std::memory_order_relaxed);
}

std::size_t mappedBytes() {
    return mapped.load(std::memory_order_relaxed);
}

std::size_t residentBytes() {
    char text[128];
    readInto(text, "/proc/self/statm");
    const char* const second = std::strchr(text, ' ');
    const std::size_t pages = second != nullptr ? std::strtoul(second, nullptr, 10) : 0;
    const std::size_t all = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t own = mappedBytes();
    return all > own ? all - own : 0;
}

std::size_t peakResidentBytes() {
    char text[4096];
    readInto(text, "/proc/self/status");
    // Not getrusage: its figure survives exec, so it may be the parent's.
    const char* const line = std::strstr(text, "VmHWM:");
    return line != nullptr ? std::strtoul(line + 6, nullptr, 10) * 1024 : 0;
}

} // namespace heapwright::workloads
