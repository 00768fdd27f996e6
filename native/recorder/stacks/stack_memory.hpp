// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of a thread's stack that may be read. From the first frame of a walk to the end of the
// stack all pages are mapped, if the stack is known. A thread's own stack ends at its control
// block. The first thread's stack ends where the kernel put the program's arguments. A coroutine or
// a signal handler may run on another stack.
//
// Invariant: each page between `low_` and `high_` of the own stack was found readable once. For
// another stack nothing is remembered: each walk probes each page again.
#pragma once

#include "readable.hpp"

#include <cstdint>

namespace heapwright::recorder::stacks {

/// One walk's view: whole words between `begin` and `end`.
class Window {
public:
    Window() noexcept = default;
    Window(std::uint64_t begin, std::uint64_t end, bool own) noexcept
        : begin_(begin), end_(end), own_(own) {}

    [[nodiscard]] bool own() const noexcept { return own_; }

    /// For the thread's own stack: everything from the start of the walk up to here may be read.
    /// Zero for another stack, which is probed word by word.
    [[nodiscard]] std::uint64_t ownEnd() const noexcept { return own_ ? end_ : 0; }

    /// Whether the word at an address may be read.
    [[nodiscard]] bool has(std::uint64_t address) noexcept {
        return (address & 7U) == 0 && address >= begin_ &&
               ((address < end_) || (!own_ && grow(address)));
    }

    [[nodiscard]] static std::uint64_t word(std::uint64_t address) noexcept {
        return *reinterpret_cast<const std::uint64_t*>(address);
    }

private:
    static constexpr std::uint64_t mostGrowth = 64 * smallestPage;

    [[gnu::noinline]] bool grow(std::uint64_t address) noexcept {
        if (address - end_ >= mostGrowth) {
            return false;
        }
        while (end_ <= address) {
            if (!isReadable(end_)) {
                return false;
            }
            end_ += smallestPage;
        }
        return true;
    }

    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0; ///< of another stack: a page's end
    bool own_ = true;
};

/// The stack of one thread, kept with the thread.
class StackMemory {
public:
    /// The view of a walk that begins at a frame.
    [[nodiscard]] Window from(std::uint64_t frame) noexcept {
        if (frame - low_ < high_ - low_) {
            return {frame, high_, true};
        }
        return learn(frame);
    }

private:
    static constexpr std::uint64_t farthest = std::uint64_t{64} << 20U; ///< beyond it, pages are
                                                                        ///< probed

    Window learn(std::uint64_t frame) noexcept;
    [[nodiscard]] static bool connected(std::uint64_t from, std::uint64_t to) noexcept;

    std::uint64_t low_ = 0;
    std::uint64_t high_ = 0;
};

} // namespace heapwright::recorder::stacks
