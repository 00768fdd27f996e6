// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The C library gives a thread one mapping: its control block at the top, the stack below. The
// first thread's stack ends where the kernel put the program's arguments, which the loader keeps.
#include "stack_memory.hpp"

#include <initializer_list>

extern "C" void* __libc_stack_end __attribute__((weak));

namespace heapwright::recorder::stacks {

/// Whether every page from the one of `from` to the one below `to` can be read.
bool StackMemory::connected(std::uint64_t from, std::uint64_t to) noexcept {
    if (from >= to || to - from > farthest) {
        return false;
    }
    for (std::uint64_t page = from & ~(smallestPage - 1); page < to; page += smallestPage) {
        if (!isReadable(page)) {
            return false;
        }
    }
    return true;
}

Window StackMemory::learn(std::uint64_t frame) noexcept {
    const std::uint64_t page = frame & ~(smallestPage - 1);
    if (high_ != 0 && frame < low_ && connected(page, low_)) {
        low_ = page;
        return {frame, high_, true};
    }
    const auto block = reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
    const std::uint64_t first =
        &__libc_stack_end != nullptr ? reinterpret_cast<std::uint64_t>(__libc_stack_end) : 0;
    for (const std::uint64_t end : {block & ~std::uint64_t{7}, first & ~std::uint64_t{7}}) {
        if (high_ == 0 && connected(page, end)) {
            low_ = page;
            high_ = end;
            return {frame, high_, true};
        }
    }
    return {frame, page, false}; // not even its own page is taken for readable
}

} // namespace heapwright::recorder::stacks
