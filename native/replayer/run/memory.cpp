// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See memory.hpp. The kernel's files are read through a buffer on the stack: stdio would allocate.
#include "memory.hpp"

#include "fatal_error.hpp"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace heapwright::replayer {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t piece = std::size_t{256} << 10;
std::size_t own = 0; // changed only before the threads begin

std::size_t kibibytes(const char* text, const char* name) {
    const char* const line = std::strstr(text, name);
    return line != nullptr ? std::strtoul(line + std::strlen(name), nullptr, 10) * 1024 : 0;
}

} // namespace

void* mapPages(std::size_t bytes) {
    const std::size_t length = (bytes + page - 1) & ~(page - 1);
    void* const pages = length < bytes ? MAP_FAILED
                                       : ::mmap(nullptr, length, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (pages == MAP_FAILED) {
        fatalError(Status::noMemory, "no memory for the replay's own tables (%zu bytes)", bytes);
    }
    own += length;
    return pages;
}

void* OwnMemory::take(std::size_t bytes) {
    const std::size_t rounded = (bytes + 63) & ~std::size_t{63};
    if (rounded >= piece) {
        return mapPages(rounded);
    }
    if (rounded > left_) {
        at_ = static_cast<char*>(mapPages(piece));
        left_ = piece;
    }
    void* const given = at_;
    at_ += rounded;
    left_ -= rounded;
    return given;
}

std::size_t ownBytes() {
    return own;
}

void countAsOwn(std::size_t bytes) {
    own += bytes;
}

Resident resident() {
    char text[4096];
    const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t got = file < 0 ? 0 : ::read(file, text, sizeof text - 1);
    ::close(file);
    text[got > 0 ? got : 0] = '\0';
    return {kibibytes(text, "VmHWM:"), kibibytes(text, "RssFile:") + kibibytes(text, "RssShmem:")};
}

} // namespace heapwright::replayer
