// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the system says of a process's memory at one moment, and how a block of kind `system` holds
// it. A block is whole in itself: its first sample is complete, each later one says what changed, so
// that a process that stands still costs some ten bytes a sample and a damaged block costs only
// itself.
//
// A record is one byte that says which it is, then numbers of seven bits a byte, the lowest first.
//   1  sample   ticks since the sample before (the first: since the block's first time),
//               fixed, stack, trace, lazy in KiB, the changes of the mappings, 0
//   2  objects  length, then the paths of the mapped files with code, each ended by a newline
// A change is a number whose two lowest bits say what and whose rest is a count or a distance:
//   0  keep the next N mappings as they were (N > 0)
//   1  the next N are gone
//   2  a new mapping: it begins N pages of 4 KiB after the end of the one before; then length in
//      pages and resident KiB
//   3  the next one has changed: N is its length in pages; then resident KiB
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapwright::trace {

/// A writable mapping; the stack of the first thread and the trace itself are not among them.
struct SystemMapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t resident = 0; ///< bytes, a multiple of 1 KiB

    friend bool operator==(const SystemMapping&, const SystemMapping&) = default;
};

/// Bytes, all of them resident.
struct SystemSample {
    std::uint64_t time = 0;  ///< in the unit in which blocks hold their times
    std::uint64_t fixed = 0; ///< mappings that cannot be written: code and constant data
    std::uint64_t stack = 0; ///< of the first thread
    std::uint64_t trace = 0; ///< pages of the trace, there only because the process is recorded
    std::uint64_t lazy = 0;  ///< of the mappings' bytes, those that the system may take back at will
    std::vector<SystemMapping> mappings; ///< ascending, not overlapping

    std::uint64_t resident() const {
        std::uint64_t sum = fixed + stack;
        for (const SystemMapping& mapping : mappings) {
            sum += mapping.resident;
        }
        return sum;
    }
};

/// Writes the records of one block. `clear()` begins another one.
class SystemEncoder {
public:
    void clear(std::uint64_t blockTime) {
        last_ = SystemSample();
        last_.time = blockTime;
    }

    /// Appends one record. Times before the last one count as the last one.
    void add(const SystemSample& sample, std::string& out);
    void addObjects(std::string_view paths, std::string& out);

private:
    SystemSample last_;
};

/// Reads the records of one block. Whatever the bytes are, it stays inside them, and what it gives
/// out is ascending and in proportion to them.
class SystemDecoder {
public:
    SystemDecoder(std::string_view payload, std::uint64_t blockTime) : rest_(payload) {
        sample_.time = blockTime;
    }

    /// On to the next sample; false at the end, or where the bytes make no sense (`damaged()`).
    bool next();

    const SystemSample& sample() const { return sample_; }
    /// The paths last said, up to this sample.
    std::string_view objects() const { return objects_; }
    bool damaged() const { return damaged_; }

private:
    bool number(std::uint64_t& value);
    bool readSample();
    bool readChanges();
    bool readChange(std::uint64_t change, std::size_t& at, std::vector<SystemMapping>& now);
    bool readObjects();

    std::string_view rest_;
    SystemSample sample_;
    std::string_view objects_;
    bool damaged_ = false;
};

} // namespace heapwright::trace
