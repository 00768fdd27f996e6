// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations of a .wl file, one stream of them. Numbers have seven bits a byte, the most
// significant first; the high bit says that more follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "trace/reader.hpp"

namespace heapwright::trace::wl {

enum class Op : std::uint8_t {
    nop = 0,
    done = 1,
    malloc = 2,
    calloc = 3,
    realloc = 4,
    free = 5,
    signal = 6,
    wait = 7,
    pointers = 8,
    signals = 9,
    threads = 10,
    start = 11,
    memalign = 12,
    valloc = 13,
    pvalloc = 14,
    posixMemalign = 15,
};

struct Step {
    Op op = Op::nop;
    std::uint64_t operands[3] = {};
    std::uint64_t offset = 0; ///< in the file
};

inline unsigned operandsOf(Op op) {
    static constexpr std::uint8_t counts[] = {0, 0, 2, 2, 3, 1, 1, 1, 1, 1, 1, 1, 3, 2, 2, 3};
    return counts[static_cast<unsigned>(op)];
}

class Stream {
public:
    /// From `at` to `end`, where another stream begins or the file ends.
    Stream(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t end)
        : bytes_(bytes), at_(at), end_(end) {}

    Step next() {
        Step step;
        step.offset = at_;
        const unsigned code = byte();
        if (code > static_cast<unsigned>(Op::posixMemalign))
            throw TraceError("an unknown operation " + std::to_string(code), step.offset);
        step.op = static_cast<Op>(code);
        for (unsigned operand = 0; operand < operandsOf(step.op); ++operand)
            step.operands[operand] = number();
        return step;
    }

private:
    unsigned byte() {
        if (at_ >= end_)
            throw TraceError(at_ >= bytes_.size() ? "the file is cut off"
                                                  : "a stream runs into the next one",
                             at_);
        return static_cast<unsigned>(bytes_[at_++]);
    }

    std::uint64_t number() {
        const std::uint64_t begin = at_;
        std::uint64_t value = 0;
        unsigned part = 0;
        do {
            if (value >> 57 != 0)
                throw TraceError("a number of more than 64 bits", begin);
            part = byte();
            value = (value << 7) | (part & 127);
        } while ((part & 128) != 0);
        return value;
    }

    std::span<const std::byte> bytes_;
    std::uint64_t at_;
    std::uint64_t end_;
};

} // namespace heapwright::trace::wl
