// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the instructions of the process are, by their addresses. The bytes are read from the files
// that the loader has mapped: the code of a library is the same in memory as in its file. The marks
// tell what was mapped at the first call; for code that came later the system's list of the
// process's mappings is read, as long as the process is there.
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

    /// The code around this address is that of the marks.
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
