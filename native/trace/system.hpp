// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the system says of a process's memory at one moment, and how the records of `system` blocks
// hold it. The first record of a block is a complete sample, and each later one holds the changes.
// So an idle process costs some twenty bytes a sample, and a damaged block costs only itself.
//
// Numbers have seven bits a byte, the lowest first. The records:
//   1  complete   number of the sample, ticks since the trace began, fixed, stack, trace, lazy in
//                 KiB, then the mappings as changes to none
//   2  changes    the same, the mappings as changes to the sample of the number before
//   3  objects    the paths of the mapped files with code, each ended by a newline
// A change is a number whose two lowest bits say what and whose rest is a count or a distance:
//   0  keep the next N mappings as they were (N = 0: the end; what was before and is left is gone)
//   1  the next N are gone
//   2  a new mapping: it begins N pages of 4 KiB after the end of the one before; then its length
//      in pages and its residence
//   3  the next one has changed: N is its length in pages; then its residence
// Residence is twice the resident KiB, and one more for the program break's own mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapwright::trace {

/// A writable mapping; the stack of the first thread and the trace itself are not among them.
struct SystemMapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t resident = 0; ///< bytes, a multiple of 1 KiB
    bool programBreak = false;  ///< what brk and sbrk move

    friend bool operator==(const SystemMapping&, const SystemMapping&) = default;
};

/// Bytes, all of them resident.
struct SystemSample {
    std::uint64_t time = 0;  ///< ticks since the trace began
    std::uint64_t fixed = 0; ///< mappings that cannot be written: code and constant data
    std::uint64_t stack = 0; ///< of the first thread
    std::uint64_t trace = 0; ///< pages of the trace and of the recorder's libraries
    std::uint64_t lazy = 0; ///< of the mappings' bytes, those that the system may take back at will
    std::vector<SystemMapping> mappings; ///< ascending, not overlapping

    std::uint64_t resident() const {
        std::uint64_t sum = fixed + stack;
        for (const SystemMapping& mapping : mappings) {
            sum += mapping.resident;
        }
        return sum;
    }
};

namespace record {
constexpr std::uint16_t systemComplete = 1;
constexpr std::uint16_t systemChanges = 2;
constexpr std::uint16_t systemObjects = 3;
} // namespace record

/// Writes the samples of one process, one record each.
class SystemEncoder {
public:
    /// The bytes of the next record; `complete` asks for one that needs none before it.
    std::string encode(const SystemSample& sample, bool complete);

private:
    SystemSample last_;
    std::uint64_t number_ = 0;
};

/// Reads the records of one process, in their order. For any bytes, it reads only inside them. Its
/// results are ascending and in proportion to the bytes.
class SystemDecoder {
public:
    /// Takes one record; true if `sample()` is now another. Changes whose sample before was lost
    /// are passed over, up to the next complete one.
    bool take(std::uint16_t type, std::span<const std::byte> bytes);

    const SystemSample& sample() const { return sample_; }
    /// The paths last said.
    const std::string& objects() const { return objects_; }
    /// Records that made no sense.
    std::uint64_t damaged() const { return damaged_; }

private:
    bool number(std::uint64_t& value);
    bool readSample(bool complete);
    bool readChanges(const std::vector<SystemMapping>& before);
    bool readChange(std::uint64_t change, const std::vector<SystemMapping>& before, std::size_t& at,
                    std::vector<SystemMapping>& now);

    std::string_view rest_;
    SystemSample sample_;
    std::string objects_;
    std::uint64_t number_ = 0;
    bool known_ = false; ///< `sample_` is the one of `number_`
    std::uint64_t damaged_ = 0;
};

} // namespace heapwright::trace
