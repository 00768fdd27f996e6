// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See windows.hpp.
#include "windows.hpp"

#include <algorithm>
#include <stdexcept>

namespace heapwright::replayer {

Windows::Balance Windows::after(Balance balance, std::uint64_t freed, std::uint64_t allocated) {
    balance.bytes -= static_cast<std::int64_t>(freed);
    balance.low = std::min(balance.low, balance.bytes);
    balance.bytes += static_cast<std::int64_t>(allocated);
    balance.high = std::max(balance.high, balance.bytes);
    return balance;
}

Entry Windows::place(std::size_t thread, std::uint64_t freed, std::uint64_t allocated) {
    Balance& balance = balances_[thread];
    if (balance.window != entry_.window) {
        balance = {.window = entry_.window};
    }
    const Balance next = after(balance, freed, allocated);
    const std::uint64_t bytes = bytes_ - balance.range() + next.range();
    if (empty_ || bytes <= grain_) {
        balance = next;
        bytes_ = bytes;
    } else {
        const Balance alone = after({.window = entry_.window + 1}, freed, allocated);
        open(alone.range());
        balance = alone;
        bytes_ = alone.range();
    }
    empty_ = false;
    return entry_;
}

/// The next window. Its first call moves `bytes` bytes.
void Windows::open(std::uint64_t first) {
    if (entry_.window + 1 >= endOfWindows) {
        throw std::runtime_error("more calls depend on each other than can be replayed in this "
                                 "order; --order hand-over needs no windows");
    }
    before_.push_front(bytes_);
    ++entry_.window;
    std::uint64_t together = std::max(first, grain_);
    std::size_t open = 0;
    while (open < before_.size() && together + before_[open] <= bound_) {
        together += before_[open++];
    }
    before_.resize(std::min<std::size_t>(open, (1U << Entry::distanceBits) - 1));
    entry_.needed = entry_.window - static_cast<std::uint32_t>(before_.size());
}

} // namespace heapwright::replayer
