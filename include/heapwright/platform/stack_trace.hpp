// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The return addresses of the calling thread's stack, and their output as text. The C library loads
// its unwinder at the first use and allocates for that. `prepareStacks` does this at a moment when
// the caller may allocate. Without it, and without an unwinder in the C library, stacks are empty.
// Cost: some microseconds for each stack.
#pragma once

#include <heapwright/platform/errno_keeper.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif

namespace heapwright::platform {

namespace detail {
inline constinit std::atomic<bool> stacksAreReady{false};
} // namespace detail

[[nodiscard]] inline bool stacksReady() noexcept {
    return detail::stacksAreReady.load(std::memory_order_acquire);
}

/// The innermost frames of a stack.
struct StackTrace {
    static constexpr std::size_t most = 16;
    std::array<void*, most> frames{};
    std::uint32_t count = 0;

    /// Records the stack of the calling thread.
    [[gnu::noinline]] void record() noexcept {
        count = 0;
#if __has_include(<execinfo.h>)
        if (stacksReady()) {
            const ErrnoKeeper keeper;
            count = static_cast<std::uint32_t>(::backtrace(frames.data(), most));
        }
#endif
    }

    /// Writes one line for each frame. Allocates nothing.
    void print([[maybe_unused]] int descriptor) const noexcept {
#if __has_include(<execinfo.h>)
        ::backtrace_symbols_fd(frames.data(), static_cast<int>(count), descriptor);
#endif
    }
};

/// Loads the unwinder. The caller must be outside any heap.
inline void prepareStacks() noexcept {
#if __has_include(<execinfo.h>)
    const ErrnoKeeper keeper;
    std::array<void*, 2> frames{};
    static_cast<void>(::backtrace(frames.data(), static_cast<int>(frames.size())));
    detail::stacksAreReady.store(true, std::memory_order_release);
#endif
}

} // namespace heapwright::platform
