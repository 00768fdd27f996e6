// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the check mode finds wrong: each kind is counted, the first few are kept with their
// particulars.
#pragma once

#include "trace/event.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heapwright::replayer {

enum class FaultKind { contents, moved, zeroes, alignment, overlap };
constexpr const char* words[] = {"contents changed while the object was live",
                                 "contents lost in a realloc", "memory of calloc is not zero",
                                 "address not aligned", "overlaps a live object"};
constexpr std::size_t faultKinds = std::size(words);

struct Finding {
    FaultKind wrong;
    trace::Routine routine; ///< that gave the object; `free` and `realloc`: that took it
    std::uint64_t address;
    std::uint64_t size;
    std::uint64_t at; ///< the first byte that is wrong, or the requested alignment
};

class Findings {
public:
    void add(const Finding& finding) {
        counts_[static_cast<std::size_t>(finding.wrong)].fetch_add(1, std::memory_order_relaxed);
        const std::size_t place = used_.fetch_add(1, std::memory_order_relaxed);
        if (place < most) {
            kept_[place] = finding;
        }
    }

    std::uint64_t count(std::size_t wrong) const { return counts_[wrong].load(); }
    std::uint64_t count() const { return used_.load(); }
    std::span<const Finding> kept() const {
        const std::size_t used = used_.load();
        return {kept_, used < most ? used : most};
    }

private:
    static constexpr std::size_t most = 8;

    std::atomic<std::uint64_t> counts_[faultKinds]{};
    std::atomic<std::size_t> used_{0};
    Finding kept_[most]{};
};

} // namespace heapwright::replayer
