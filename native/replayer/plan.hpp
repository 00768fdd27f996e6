// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A plan: a trace as commands that can be carried out with next to no work. `heapwright-replay
// prepare` writes one, `heapwright-replay run` reads it, both on the same machine and soon after
// each other: the file is not an exchange format. Addresses have become slots of a table in which a
// thread finds its objects. Objects that pass to another thread are already known. The commands of
// a thread are a chain of chunks. So all threads' chunks can be written side by side, and each
// thread's can be read without the others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::replayer {

constexpr unsigned char planMagic[8] = {'H', 'W', 'P', 'L', 'A', 'N', '0', '2'};

/// How far a thread may be ahead of the recorded order.
enum class Order : std::uint64_t {
    handOver, ///< as far as the objects that it takes from others permit
    bounded,  ///< also only so far that the live bytes stay close to the recorded ones
    recorded, ///< not at all: the one recorded interleaving
};

/// What the trace had that cannot be replayed as it stands, or that is worth knowing.
struct Oddities {
    std::uint64_t failed;          ///< calls that had got no memory: left out
    std::uint64_t unknownFrees;    ///< of an address that was not live: left out
    std::uint64_t unknownReallocs; ///< of an address that was not live: a new object instead
    std::uint64_t overwritten;     ///< live objects whose address was handed out again: freed first
    std::uint64_t nullFrees;       ///< replayed
    std::uint64_t neverFreed;      ///< objects live at the end
    std::uint64_t neverFreedBytes;
};

/// What the commands do between the calls. All zero: nothing.
struct Between {
    std::uint64_t iterationsPerMillisecond; ///< of the work; 0 = the plan has none
    std::uint64_t recorded;   ///< ns between the calls of each thread, of all threads together
    std::uint64_t worked;     ///< of these, replayed as work
    std::uint64_t longest;    ///< ns that a gap is cut to; the rest was waiting
    std::uint64_t iterations; ///< of all gaps
    std::uint64_t visitsPerMillisecond; ///< of work; as used
    std::uint64_t visits;               ///< of objects
    std::uint64_t visitedLines;         ///< cache lines of these
    std::uint64_t calls[4]; ///< ns of a call and its recording, by kind of gap, not replayed
};

struct PlanHeader {
    unsigned char magic[8];
    std::uint64_t bytes;         ///< of the file
    std::uint64_t threads;       ///< entries of the directory
    std::uint64_t directory;     ///< its offset
    std::uint64_t sharedSlots;   ///< of the table of objects that pass from thread to thread
    Order order;                 ///< that the commands hold
    std::uint64_t aheadBytes;    ///< by which the live bytes may differ, if the order is bounded
    std::uint64_t paced;         ///< 1: they hold the recorded times
    std::uint64_t process;       ///< whose calls these are
    std::uint64_t events;        ///< recorded calls
    std::uint64_t handOvers;     ///< objects that pass from one thread to another
    std::uint64_t peakBytes;     ///< most requested bytes live at once, in recorded order
    std::uint64_t peakObjects;   ///< most objects live at once
    std::uint64_t peakOperation; ///< the call after which most bytes were live
    std::uint64_t nanoseconds;   ///< from the first recorded call to the last
    Between between;
    Oddities oddities;
};

/// One recorded thread. The first is the one whose first call was first; the rest follow likewise.
struct PlanThread {
    std::uint64_t number;     ///< in the trace
    std::uint64_t chunk;      ///< offset of its first chunk
    std::uint64_t chunkBytes; ///< the length of that
    std::uint64_t allBytes;   ///< of all its chunks
    std::uint64_t slots;      ///< of its own table; slot 0 is never used
    std::uint64_t calls;      ///< commands that are calls of the allocator
    std::uint64_t routines;   ///< bit n: it calls the routine of that number
    std::uint64_t alive;      ///< threads of the trace that were alive when it began, itself too
    std::uint64_t began;      ///< ns after the plan's first call
    std::uint32_t window;     ///< of its first call, in the bounded order
    std::uint32_t later;      ///< the least of that of this thread and those that follow
};

/// Stands at the beginning of a chunk; commands follow.
struct ChunkHeader {
    std::uint64_t next;      ///< offset of the next one, 0 = none
    std::uint64_t nextBytes; ///< its length
};

constexpr std::size_t smallestChunk = 4096;
constexpr std::size_t largestChunk = std::size_t{64} << 10;

/// A command is a word and up to `mostWords - 1` more:
///
///     bits 0-4    the routine's number, or `control`
///     bit 5       `longSize`: the size does not fit and is in the next word
///     bit 6       `general`: slot uses are written in words of their own
///     bit 7       `released`: of a realloc, that Control::release already subtracted the old
///                 block's bytes; of a free, that the trace has no such call
///     bits 8-35   a slot of the thread's own table
///     bits 36-63  the size
///
/// Further words follow: The long size. The alignment, if the routine has one. The old size, if it
/// is a realloc. If `general`, the use that ends (free, realloc), then the use that begins
/// (allocations). A slot that holds no object holds null.
namespace command {

constexpr unsigned control = 13;
constexpr std::uint64_t longSize = 1U << 5;
constexpr std::uint64_t general = 1U << 6;
constexpr std::uint64_t released = 1U << 7;
constexpr std::uint64_t mostSlots = 1U << 28;
constexpr std::uint64_t mostShortSize = (1U << 28) - 1;
constexpr std::size_t mostWords = 6;

constexpr std::uint64_t routine(std::uint64_t word) {
    return word & 31U;
}
constexpr std::size_t slot(std::uint64_t word) {
    return (word >> 8U) & (mostSlots - 1);
}
constexpr std::size_t shortSize(std::uint64_t word) {
    return word >> 36U;
}

} // namespace command

/// What a command says that is no call: `control` in the low bits, this in bits 8-15, a value
/// above.
enum class Control : std::uint8_t {
    end = 0,     ///< the thread is over
    more = 1,    ///< the next chunk goes on
    take = 2,    ///< wait for the thread's order semaphore
    pass = 3,    ///< post the semaphore of the thread of this index
    at = 4,      ///< the earliest time, in ns after the first call
    skip = 5,    ///< a number of recorded calls is left out
    release = 6, ///< a realloc that moves its block was entered here; has its bytes
    enter = 7,   ///< go on in a window, see `Entry`
    work = 8,    ///< a number of iterations of `compute`
    visit = 9,   ///< touch an object of the own table, see `Visit`
};

/// The largest value of a control word.
constexpr std::uint64_t mostControl = (std::uint64_t{1} << 48U) - 1;

constexpr std::uint64_t controlWord(Control what, std::uint64_t value) {
    return command::control | static_cast<std::uint64_t>(what) << 8U | value << 16U;
}

/// The visit of an object: its first line is written, with the bytes that it has, and its other
/// lines are read. A line is one byte of each 64 from the object's begin.
struct Visit {
    std::uint32_t slot = 0;
    std::uint32_t first = 0; ///< line
    std::uint32_t lines = 1;

    static constexpr std::uint64_t lineBytes = 64;
    static constexpr std::uint64_t mostLines = 8;
    static constexpr std::uint64_t mostFirst = (1U << 17) - 1;

    constexpr std::uint64_t value() const {
        return slot | std::uint64_t{first} << 28U | std::uint64_t{lines - 1} << 45U;
    }
    static constexpr Visit of(std::uint64_t value) {
        return {static_cast<std::uint32_t>(value & (command::mostSlots - 1)),
                static_cast<std::uint32_t>(value >> 28U & mostFirst),
                static_cast<std::uint32_t>(value >> 45U) + 1};
    }
};

/// The bounded order divides the recorded calls into windows. A thread enters one when all threads
/// have left those before `needed`.
struct Entry {
    std::uint32_t window = 0;
    std::uint32_t needed = 0;

    static constexpr unsigned distanceBits = 8;

    constexpr std::uint64_t value() const {
        return std::uint64_t{window} << distanceBits | (window - needed);
    }
    static constexpr Entry of(std::uint64_t value) {
        const auto window = static_cast<std::uint32_t>(value >> distanceBits);
        return {window, window - static_cast<std::uint32_t>(value & ((1U << distanceBits) - 1))};
    }
};

/// Windows have numbers below this one, which stands for the end of a thread.
constexpr std::uint32_t endOfWindows = UINT32_MAX >> 1U;

/// Where an object is kept between two calls. It is a slot of the thread's own table, or one of the
/// shared table and the generation of its use.
struct SlotUse {
    std::uint32_t slot = 0; ///< 0 of the own table: no object
    std::uint16_t generation = 0;
    bool shared = false;

    constexpr std::uint64_t word() const {
        return slot | std::uint64_t{generation} << 32U | std::uint64_t{shared} << 48U;
    }
    static constexpr SlotUse of(std::uint64_t word) {
        return {static_cast<std::uint32_t>(word), static_cast<std::uint16_t>(word >> 32U),
                (word >> 48U & 1U) != 0};
    }
};

/// Generations count modulo this.
constexpr unsigned generations = 1U << 14;

} // namespace heapwright::replayer
