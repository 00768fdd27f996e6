// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See own_memory.hpp.
#include "own_memory.hpp"

#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace heapwright::recorder::attached {

namespace {

struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
};

/// Untouched pages of it take no memory.
constexpr std::size_t most = std::size_t{1} << 17;
constinit Range ranges[most] = {};
constinit std::size_t count = 0;
constinit unsigned forgotten = 0;
constinit FutexLock lock;

void add(std::uintptr_t begin, std::uintptr_t end) noexcept {
    if (count == most) {
        ++forgotten;
        return;
    }
    ranges[count++] = {begin, end};
}

void noteMapped(void* pages, std::size_t bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(pages);
    if (begin != ~std::uintptr_t{0}) {
        const Guard guard(lock);
        add(begin, begin + bytes);
    }
}

/// The unmapped part is at either end of a range, or all of it. The latest come first, because a
/// thread unmaps the block that it mapped last.
void noteUnmapped(const void* pages, std::size_t bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(pages);
    const std::uintptr_t end = begin + ((bytes + 4095) & ~std::size_t{4095});
    const Guard guard(lock);
    for (std::size_t i = count; i > 0; --i) {
        const Range range = ranges[i - 1];
        if (begin < range.begin || begin >= range.end) {
            continue;
        }
        ranges[i - 1] = ranges[--count];
        if (range.begin < begin) {
            add(range.begin, begin);
        }
        if (end < range.end) {
            add(end, range.end);
        }
        return;
    }
}

} // namespace

unsigned unmapAll() noexcept {
    while (count > 0) {
        const Range range = ranges[count - 1];
        // Shrinks the list itself, by the function below.
        ::munmap(reinterpret_cast<void*>(range.begin), range.end - range.begin);
    }
    return forgotten;
}

} // namespace heapwright::recorder::attached

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the linker demands these names
void* __real_mmap(void*, std::size_t, int, int, int, off_t) noexcept;
int __real_munmap(void*, std::size_t) noexcept;
long __real_syscall(long, ...) noexcept;

/// Before the system may give the pages to another thread, they must be off the list.
int __wrap_munmap(void* pages, std::size_t bytes) noexcept {
    heapwright::recorder::attached::noteUnmapped(pages, bytes);
    return __real_munmap(pages, bytes);
}

void* __wrap_mmap(void* wish, std::size_t bytes, int rights, int flags, int file,
                  off_t offset) noexcept {
    void* const pages = __real_mmap(wish, bytes, rights, flags, file, offset);
    heapwright::recorder::attached::noteMapped(pages, bytes);
    return pages;
}

long __wrap_syscall(long number, ...) noexcept {
    std::va_list list;
    va_start(list, number);
    long words[6];
    for (long& word : words) {
        word = va_arg(list, long);
    }
    va_end(list);
    if (number == SYS_munmap) {
        heapwright::recorder::attached::noteUnmapped(reinterpret_cast<void*>(words[0]),
                                                     static_cast<std::size_t>(words[1]));
    }
    const long result =
        __real_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (number == SYS_mmap) {
        heapwright::recorder::attached::noteMapped(reinterpret_cast<void*>(result),
                                                   static_cast<std::size_t>(words[1]));
    }
    return result;
}
// NOLINTEND(bugprone-reserved-identifier)

} // extern "C"
