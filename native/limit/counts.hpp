// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the allocations and the live bytes of this process. Each thread counts in a line of its
// own. A process with one thread knows its live bytes, and their peak, at each call. With several
// threads a thread adds its change to those of the process when it comes to 64 KiB. The peak may
// then be too small by that much for each thread.
//
// Invariant: `idle` is null while a thread is inside a call. A nested call, such as malloc by
// operator new, is not counted again. errno is the allocator's.
// Cost: about 25 instructions for each call, and no atomic operation in nearly all of them.
#pragma once

#include "layout.hpp"
#include "recorder/next.hpp"
#include "requested.hpp"

#include <heapwright/platform/thread.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::limit {

inline constexpr std::int64_t batch = 64 << 10;

struct Thread {
    ThreadLine* idle; ///< its line, if the next call is to be counted; else null
    ThreadLine* line; ///< its line; null: it has none, or not yet
    bool known;       ///< it has requested a line
    bool inside;
};

extern constinit thread_local Thread thisThread __attribute__((tls_model("initial-exec")));
extern constinit Page* page; ///< of this process
extern constinit RequestedSizes requestedSizes;

/// Whether the program makes this call. Otherwise it is to be passed on. Finds the next allocator
/// and the thread's line, if this is the first call.
[[gnu::cold, gnu::noinline]] bool isOutermost(Thread& self) noexcept;

/// The size that counts for a block that was requested with `size`.
[[gnu::always_inline]] inline std::int64_t noteSize(void* object, std::size_t size) noexcept {
    if (!requestedSizes.exact()) [[unlikely]] {
        return static_cast<std::int64_t>(requestedSizes.of(object));
    }
    requestedSizes.note(object, size);
    return static_cast<std::int64_t>(size);
}

/// Adds to the live bytes of the process. Any thread may call.
[[gnu::noinline]] void addShared(std::int64_t bytes) noexcept;

[[gnu::always_inline]] inline void change(ThreadLine& line, std::int64_t bytes) noexcept {
    if (platform::singleThreaded()) [[likely]] {
        ProcessLine& process = page->process;
        const std::int64_t live = process.live + line.pending + bytes;
        line.pending = 0;
        process.live = live;
        if (live > process.peak) {
            process.peak = live;
        }
        return;
    }
    line.pending += bytes;
    if (line.pending >= batch || line.pending <= -batch) [[unlikely]] {
        const std::int64_t whole = line.pending;
        line.pending = 0;
        addShared(whole);
    }
}

[[gnu::always_inline]] inline void noteAllocated(ThreadLine& line, void* object,
                                                 std::size_t size) noexcept {
    ++line.allocations;
    line.bytes += size;
    change(line, noteSize(object, size));
}

/// Before the call of free, because another thread may get the address at once.
[[gnu::always_inline]] inline void noteFreed(ThreadLine& line, void* object) noexcept {
    ++line.frees;
    change(line, -static_cast<std::int64_t>(requestedSizes.of(object)));
    requestedSizes.forget(object);
}

/// The same for a thread that has no line.
void noteAllocatedShared(void* object, std::size_t size) noexcept;
void noteFreedShared(void* object) noexcept;

struct Old {
    void* object;
    std::size_t requested;
};

/// A realloc that has returned a block, or has freed one.
void noteResized(Thread& self, const Old& old, void* object, std::size_t size) noexcept;

} // namespace heapwright::limit
