// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the requested bytes of a thread down to its next sampled byte. The entry points of granary
// with samples call `pass` first. Only a request that it refuses looks further.
//
// Invariant: `left` is the number of bytes before the next sampled one, and not negative, between
// two requests. Its first value is 0, so the first request of a thread begins the thread.
// Cost: 3 instructions for `pass`: the offset of `left`, a subtraction, a jump.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::sampled {

struct Countdown {
    std::uint64_t left; ///< bytes
    bool begun;         ///< `left` was drawn
};

extern constinit thread_local Countdown countdown __attribute__((tls_model("initial-exec")));

/// Counts a request. False: the caller must ask `isDue`. A request beyond PTRDIFF_MAX may pass. It
/// fails, and the caller then calls `uncountImpossible`.
[[nodiscard, gnu::always_inline]] inline bool pass(std::size_t size) noexcept {
    countdown.left -= size;
    return static_cast<std::int64_t>(countdown.left) >= 0;
}

/// Undoes `pass` for a request beyond PTRDIFF_MAX.
[[gnu::always_inline]] inline void uncountImpossible(std::size_t size) noexcept {
    if (size > PTRDIFF_MAX) [[unlikely]] {
        countdown.left += size;
    }
}

/// As `pass`, at two instructions more. It does not count a request beyond PTRDIFF_MAX.
[[nodiscard, gnu::always_inline]] inline bool passPossible(std::size_t size) noexcept {
    return size > PTRDIFF_MAX || pass(size);
}

/// Whether a request that `pass` has refused is a sample. If it is none, it is counted.
/// Post: if true, the caller calls `note` with the block. Without memory for a sample it allocates
/// plainly, and the next request is then due.
[[nodiscard, gnu::cold, gnu::noinline]] bool isDue(std::size_t size) noexcept;

/// Notes a sample, and draws the distance to the next one. `frame` is that of the function that
/// the program has called.
[[gnu::cold, gnu::noinline]] void note(void* block, std::size_t size, const void* frame) noexcept;

} // namespace heapwright::sampled
