// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The chain of calls that leads to a frame, by the frame pointers that rebuilt code keeps: each
// frame begins with the address of its caller's, then comes where it returns to.
//
// Other code may use that register as it likes, so the chain ends with the first caller that was
// not rebuilt, and wherever a frame would not lie farther up on the same stack. Cost: two loads a
// call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace heapwright::drag {

/// Where the calling thread's stack ends. It is looked up once a thread, which may allocate.
[[nodiscard]] std::uintptr_t endOfStack() noexcept;

/// Fills `chain` with return addresses, innermost first, as long as `follow` wants more of the
/// chain behind the one that it is shown; how many there are, 1 at least. Pre: the frame is of a
/// function of ours that is being executed.
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
