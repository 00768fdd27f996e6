// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The chain of calls that leads to a frame, from the frame pointers that rebuilt code keeps. Each
// frame begins with the address of its caller's frame, followed by the return address.
//
// Other code may use that register differently. The chain therefore ends with the first caller that
// was not rebuilt, or where a frame would not lie further up on the same stack.
// Cost: two loads for each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace heapwright::drag {

/// The end of the calling thread's stack. The first call of a thread looks it up, which may
/// allocate.
[[nodiscard]] std::uintptr_t endOfStack() noexcept;

/// Fills `chain` with return addresses, innermost first, while `follow` returns true for the chain
/// so far. Returns their number, at least 1.
/// Pre: the frame is of a function of this library that is executing.
template <class Follow>
std::size_t chainFrom(const void* frame, std::span<std::uint64_t> chain, Follow follow) noexcept {
    const std::uintptr_t end = endOfStack();
    const auto* at = static_cast<const std::uintptr_t*>(frame);
    std::size_t length = 0;
    while (length < chain.size()) {
        const std::uintptr_t code = at[1];
        if (!follow(code)) {
            if (length == 0) {
                chain[length++] = code;
            }
            break;
        }
        chain[length++] = code;
        const std::uintptr_t caller = at[0];
        const auto here = reinterpret_cast<std::uintptr_t>(at);
        if (caller <= here || caller % sizeof caller != 0 || caller + 2 * sizeof caller > end) {
            break;
        }
        at = reinterpret_cast<const std::uintptr_t*>(caller);
    }
    return length;
}

} // namespace heapwright::drag
