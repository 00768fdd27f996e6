// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What of a thread's stack may be read. From the frame at which a walk begins up to the end of the
// stack all is mapped, but only if it is known which stack it is: a thread's own, which ends at the
// thread's control block (or, the first thread's, where the kernel put the program's arguments), or
// some other, on which a coroutine or a signal handler runs.
//
// Invariant: what lies between `low_` and `high_` of the own stack has been seen to be readable,
// page by page, once. Of another stack nothing is remembered; a walk asks again for each page.
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

    /// Of the thread's own stack all from where the walk began up to here may be read. Of another,
    /// which is asked word by word, null.
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
    static constexpr std::uint64_t farthest = std::uint64_t{64} << 20U; ///< pages are asked for

    Window learn(std::uint64_t frame) noexcept;
    [[nodiscard]] static bool connected(std::uint64_t from, std::uint64_t to) noexcept;

    std::uint64_t low_ = 0;
    std::uint64_t high_ = 0;
};

} // namespace heapwright::recorder::stacks
