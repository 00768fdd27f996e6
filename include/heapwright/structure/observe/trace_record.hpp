// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One call of a heap's verb and what it answered, as a value and as a line of text:
//
//   17 malloc 40 = 0x55d0c8a012a0      sequence number, verb, arguments in their order, answer
//   18 resize 0x55d0c8a012a0 200 = 0   1 is true, 0 is false, 0x0 is null
//   19 free 0x55d0c8a012a0             a verb without an answer
#pragma once

#include <heapwright/structure/observe/fixed_text.hpp>
#include <heapwright/structure/observe/verb.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// A field that the verb does not use is 0.
struct TraceRecord {
    std::uint64_t sequence = 0; ///< counted from 1
    Verb verb = Verb::malloc;
    std::uint64_t object = 0;  ///< the argument's address
    std::size_t alignment = 0; ///< the requested alignment
    std::size_t size = 0;      ///< the requested size; for `trim`, the bytes to keep
    std::uint64_t answer = 0;  ///< an address, a size, or 1 for true
};

/// The length of the longest line, including its newline.
inline constexpr std::size_t longestTraceLine = 112;

/// The line of a record, with its newline.
[[nodiscard]] constexpr FixedText<longestTraceLine> lineOf(const TraceRecord& record) noexcept {
    FixedText<longestTraceLine> line;
    line.putNumber(record.sequence).put(' ').put(nameOf(record.verb));
    switch (record.verb) {
    case Verb::malloc:
    case Verb::zalloc:
    case Verb::mallocHeld:
        line.put(' ').putNumber(record.size).put(" = ").putHex(record.answer);
        break;
    case Verb::memalign:
    case Verb::memalignHeld:
        line.put(' ').putNumber(record.alignment).put(' ').putNumber(record.size);
        line.put(" = ").putHex(record.answer);
        break;
    case Verb::relocate:
        line.put(' ').putHex(record.object).put(' ').putNumber(record.size);
        line.put(" = ").putHex(record.answer);
        break;
    case Verb::resize:
        line.put(' ').putHex(record.object).put(' ').putNumber(record.size);
        line.put(" = ").putNumber(record.answer);
        break;
    case Verb::getSize:
        line.put(' ').putHex(record.object).put(" = ").putNumber(record.answer);
        break;
    case Verb::free:
        line.put(' ').putHex(record.object);
        break;
    case Verb::trim:
        line.put(' ').putNumber(record.size).put(" = ").putNumber(record.answer);
        break;
    case Verb::flush:
        line.put(" = ").putNumber(record.answer);
        break;
    case Verb::clear:
        break;
    }
    line.put('\n');
    return line;
}

/// A destination of records. `write` takes a record. `flush` passes on buffered ones. `forked` is
/// called first in a new process.
/// Pre: no function uses the traced heap.
template <class S>
concept TraceSink = requires(S sink, const TraceRecord& record) {
    { sink.write(record) } noexcept -> std::same_as<void>;
    { sink.flush() } noexcept -> std::same_as<void>;
    { sink.forked() } noexcept -> std::same_as<void>;
};

} // namespace heapwright
