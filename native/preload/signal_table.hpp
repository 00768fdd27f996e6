// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which function of the program handles a signal, where the kernel knows only ours.
//
// Invariants: the kernel's state is the truth, and is asked whenever a question comes. An entry
// says something only while the kernel has our function for its signal; SIG_DFL and SIG_IGN never
// come here, so a child of vfork, which shares the table with its parent, may reset all its
// handlers. An entry is set before the kernel learns of it, so our function always finds one.
// Entries are single atomic words: a handler may set another. Who sets handlers of the same signal
// in two threads at once gets one of the two, with the flags of either. Cost: a load when a signal
// comes.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

namespace heapwright::preload {

class SignalTable {
public:
    using Handler = void (*)(int, siginfo_t*, void*);

    /// A handler, and whether the program said that it takes all three arguments. It is always
    /// given them, in registers, which one that takes less does not look at.
    struct Entry {
        Handler handler;
        bool takesInfo;
    };

    static constexpr bool isSignal(int signal) { return signal >= 1 && signal < NSIG; }

    /// Pre: `isSignal(signal)`.
    static Entry at(int signal) { return unpacked(word(signal).load(std::memory_order_acquire)); }

    /// Sets an entry; the one before it. Pre: `isSignal(signal)`.
    static Entry exchange(int signal, Entry entry) {
        return unpacked(word(signal).exchange(packed(entry), std::memory_order_acq_rel));
    }

private:
    /// No function stands there.
    static constexpr std::uintptr_t infoBit = ~(~std::uintptr_t{0} >> 1U);

    static std::uintptr_t packed(Entry entry) {
        return reinterpret_cast<std::uintptr_t>(entry.handler) | (entry.takesInfo ? infoBit : 0);
    }
    static Entry unpacked(std::uintptr_t word) {
        return {reinterpret_cast<Handler>(word & ~infoBit), (word & infoBit) != 0};
    }
    static std::atomic<std::uintptr_t>& word(int signal) {
        return words[static_cast<unsigned>(signal)];
    }

    static inline constinit std::array<std::atomic<std::uintptr_t>, NSIG> words{};
};

} // namespace heapwright::preload
