// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The instructions of the process by their addresses. Their bytes are read from the files that the
// loader has mapped. The code of a library is the same in memory as in its file. The marks report
// the mappings at the first call. For code that is mapped later, the system's list of mappings is
// read while the process exists.
#pragma once

#include "decode.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unordered_map>
#include <vector>

namespace heapwright::valgrind {

class Code {
public:
    enum class Origin : std::uint8_t { unknown, ordinary, marks, loader };

    struct Instruction {
        Origin origin = Origin::unknown;
        Locking locking = Locking::none;
    };

    explicit Code(pid_t process) : process_(process) {}

    /// Bytes [offset, offset + end − start) of the file are the instructions at [start, end).
    void add(std::uint64_t start, std::uint64_t end, std::uint64_t offset, std::string_view file);

    /// Sets the marks' code: that around this address.
    void setMarks(std::uint64_t address);

    Instruction at(std::uint64_t address);

private:
    struct Segment {
        std::uint64_t start;
        std::uint64_t end;
        std::uint64_t offset;
        std::string file;
    };

    const Segment* segmentOf(std::uint64_t address) const;
    void readMappings();
    Instruction look(std::uint64_t address);

    pid_t process_;
    bool readMappings_ = false;
    Segment marks_{};
    std::vector<Segment> segments_;
    std::unordered_map<std::uint64_t, Instruction> known_;
};

} // namespace heapwright::valgrind
