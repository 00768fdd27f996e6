// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The lines of valgrind's log. Its tool lackey writes them with --trace-mem=yes, its core with
// --trace-sched=yes and --trace-syscalls=yes. The messages of the marks stand among them:
//
//   I  0401ab70,3               an instruction, its address and length
//    S 1fff000758,8             it stores 8 bytes there; L loads, M does both
//   --PID--   SCHED[2]:  acquired lock (thread_wrapper(starting new thread))
//   SYSCALL[PID,2](28) sys_madvise ( 0x483c000, 4096, 4 ) --> …
//   **PID** hw call 1 1fff000490 0
//   ==PID== …                   a message of valgrind
//
// The log has about a million lines of the first four kinds each second, so they are parsed by
// hand. Nothing is allocated; text of a line is valid until the next one.
#pragma once

#include <cstdint>
#include <string_view>

namespace heapwright::valgrind {

enum class Line : std::uint8_t { instruction, load, write, other, misread };

struct LogLine {
    Line kind = Line::other;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::string_view text; ///< the whole line
};

/// One line, without its newline.
LogLine readLine(std::string_view text);

/// Parses numbers and words from the front of a text.
class Fields {
public:
    explicit Fields(std::string_view text) : text_(text) {}

    /// If the text continues with `word`, skips it and returns true.
    bool skip(std::string_view word);
    /// If `word` occurs in the text, skips to after its first occurrence and returns true.
    bool find(std::string_view word);
    /// A hexadecimal number after blanks; 0, and `good()` false, if there is none.
    std::uint64_t hexadecimal() { return number(16); }
    std::uint64_t decimal() { return number(10); }
    /// A number as in a C program: with 0x, or decimal.
    std::uint64_t constant() { return skip("0x") ? hexadecimal() : decimal(); }
    std::string_view rest() const { return text_; }
    bool good() const { return good_; }

private:
    std::uint64_t number(unsigned base);

    std::string_view text_;
    bool good_ = true;
};

} // namespace heapwright::valgrind
