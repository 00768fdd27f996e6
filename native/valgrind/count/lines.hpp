// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The threads that wrote each cache line of the allocator's own memory. A line that two threads
// have written is shared. It stays shared until its memory is returned to the system or becomes the
// stack of a new thread; then its history starts again.
#pragma once

#include <cstdint>
#include <iterator>
#include <unordered_map>

namespace heapwright::valgrind {

inline constexpr unsigned lineBits = 6; ///< 64 bytes

class Lines {
public:
    void write(std::uint64_t address, std::uint64_t size, std::uint32_t thread) {
        for (std::uint64_t line = address >> lineBits; line <= (address + size - 1) >> lineBits;
             ++line) {
            State& state = lines_.try_emplace(line, State{thread, false, 0}).first->second;
            state.shared = state.shared || state.writer != thread;
            ++state.writes;
        }
    }

    /// Starts a new history of the memory [begin, end). Lines that are only partly in it keep
    /// theirs.
    void forget(std::uint64_t begin, std::uint64_t end) {
        const std::uint64_t first = (begin + (1U << lineBits) - 1) >> lineBits;
        const std::uint64_t last = end >> lineBits;
        if (last <= first) {
            return;
        }
        if (last - first < lines_.size()) {
            for (std::uint64_t line = first; line < last; ++line) {
                if (const auto found = lines_.find(line); found != lines_.end()) {
                    total_.add(found->second);
                    lines_.erase(found);
                }
            }
            return;
        }
        for (auto at = lines_.begin(); at != lines_.end();) {
            const bool inside = at->first >= first && at->first < last;
            if (inside) {
                total_.add(at->second);
            }
            at = inside ? lines_.erase(at) : std::next(at);
        }
    }

    struct State {
        std::uint32_t writer; ///< the first thread
        bool shared;
        std::uint64_t writes;
    };

    struct Total {
        std::uint64_t lines = 0;        ///< number of written lines
        std::uint64_t shared = 0;       ///< lines written by more than one thread
        std::uint64_t sharedWrites = 0; ///< writes to shared lines

        void add(const State& state) {
            ++lines;
            shared += state.shared ? 1 : 0;
            sharedWrites += state.shared ? state.writes : 0;
        }
    };

    Total total() const {
        Total total = total_;
        for (const auto& [line, state] : lines_) {
            total.add(state);
        }
        return total;
    }

private:
    std::unordered_map<std::uint64_t, State> lines_;
    Total total_;
};

} // namespace heapwright::valgrind
