// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a trace file, as FORMAT.md describes them. A header page comes first. Blocks of 4
// KiB times a power of two follow, in the order of their claims. A process that needs a block adds
// its size to `FileHeader::claimed`. Processes share nothing else. All numbers are little-endian.
// Words that change while other processes or readers use them are accessed through std::atomic_ref.
// The structs are therefore plain bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::trace {

constexpr std::size_t pageSize = 4096; ///< the header's size, and the grid that blocks are on
constexpr std::size_t maxBlockSize = 1 << 20;     ///< a reader refuses larger ones
constexpr std::size_t threadBlockSize = 64 << 10; ///< where a thread's blocks stop doubling
constexpr std::uint8_t mostStackBits = 16;
constexpr std::size_t stackBlockSize = 256 << 10; ///< the same where events have stacks

constexpr unsigned char fileMagic[8] = {'H', 'W', 'T', 'R', 'A', 'C', 'E', 0x1A};
constexpr std::uint32_t formatVersion = 1;
constexpr std::uint32_t byteOrderMark = 0x01020304;
constexpr std::uint32_t blockMagic = 0x4B42'5748; ///< "HWBK"

enum class Clock : std::uint32_t {
    monotonic = 0, ///< ticks are ns of CLOCK_MONOTONIC
    timestamp = 1, ///< the processor's time-stamp counter, shifted right by `clockShift`
    counted = 2,   ///< there was no clock: each event is some ns after the one before it
};

namespace flag {
constexpr std::uint32_t stacks = 1;       ///< allocations have stacks
constexpr std::uint32_t sampled = 2;      ///< one in `sampleInterval` blocks was recorded
constexpr std::uint32_t imported = 4;     ///< read from another format
constexpr std::uint32_t generated = 8;    ///< made by a generator, not recorded
constexpr std::uint32_t noAddresses = 16; ///< addresses are invented: no two live blocks overlap
constexpr std::uint32_t followed = 32;    ///< forked and executed processes are in it
} // namespace flag

/// Why recording stopped before the program did.
enum class Stop : std::uint32_t { none = 0, diskFull = 1, limit = 2, failed = 3 };

/// The name in the output of the programs. Any other value, in a damaged header, reads as a
/// failure.
constexpr const char* name(Stop stop) noexcept {
    switch (stop) {
    case Stop::none:
        return "none";
    case Stop::diskFull:
        return "disk-full";
    case Stop::limit:
        return "limit";
    case Stop::failed:
        break;
    }
    return "failed";
}

struct FileHeader {
    unsigned char magic[8];
    std::uint32_t version;
    std::uint32_t byteOrder;
    std::uint32_t headerSize; ///< pageSize
    std::uint32_t flags;
    Clock clock;
    std::uint32_t clockShift;     ///< time-stamp counts are shifted right by this to make a tick
    std::uint64_t ticksPerSecond; ///< after the shift
    std::uint64_t startTicks;     ///< the clock when the trace began, after the shift
    std::uint64_t startUtc;       ///< ns since 1970 at the same moment
    std::uint64_t sampleInterval; ///< 0 or 1: everything is recorded
    std::uint64_t sampleSalt;
    std::uint64_t limit;    ///< bytes that the file may grow to; 0 = no limit
    std::uint64_t checksum; ///< of the bytes before this word, with `checksum()`
    std::uint64_t unused[4];

    // From here on words change while recording. On a line of their own, one line for each purpose.
    alignas(64) std::uint64_t claimed; ///< bytes of the file given to blocks, the header included
    std::uint64_t reserved;            ///< bytes that posix_fallocate has promised
    alignas(64) std::uint32_t threads; ///< numbers given out
    std::uint32_t processes;
    std::uint32_t recording; ///< 1 = on, 0 = paused; written by the controller of the recording
    Stop stop;
    std::uint64_t lostEvents; ///< calls that found no room or came in the middle of a record
    std::uint64_t closed;     ///< 1 when the launcher has closed the file in order
    std::uint32_t launcher;   ///< the process that began the recording; 0 = none
    std::uint32_t unfollowed; ///< child processes that were not recorded
};
static_assert(sizeof(FileHeader) == 256 && offsetof(FileHeader, claimed) == 128 &&
              offsetof(FileHeader, threads) == 192);

enum class BlockKind : std::uint8_t {
    events = 1,  ///< one thread's events
    process = 2, ///< records about processes
    modules = 3, ///< records about loaded objects
    stacks = 4,  ///< records of the stack table
    system = 5,  ///< records of the system's view of memory
};

namespace state {
constexpr std::uint8_t open = 1;   ///< being written: no checksum yet, `published` grows
constexpr std::uint8_t sealed = 2; ///< complete, and the checksum holds
constexpr std::uint8_t ended =
    4; ///< with sealed: the thread ended in order, this is its last block
} // namespace state

/// What each block begins with; its payload follows.
struct BlockHeader {
    std::uint32_t magic;
    BlockKind kind;
    std::uint8_t sizeShift; ///< the block is pageSize << sizeShift bytes
    std::uint8_t state;
    std::uint8_t stackBits; ///< events: 0 = no stacks; else their larger table of shapes has 2^this
    std::uint32_t process;
    std::uint32_t thread;    ///< events: whose; otherwise 0
    std::uint32_t sequence;  ///< of this thread, or of this kind within its process; from 0
    std::uint32_t threadId;  ///< the kernel's number of the thread that writes
    std::uint64_t published; ///< low half: payload bytes; high half: events or records in them. Of
                             ///< open blocks of events 0: those end at the first zero tag
    std::uint64_t firstTime; ///< ticks since startTicks: what the first event's delta counts from
    std::uint64_t lastTime;  ///< of the last event; 0 until the block is sealed
    std::uint32_t lost;      ///< events of this thread that were lost before or in this block
    std::uint32_t backwards; ///< times the clock had gone back and was held
    std::uint64_t checksum;  ///< of header (with state sealed and this word 0) and payload
};
static_assert(sizeof(BlockHeader) == 64 && offsetof(BlockHeader, published) == 24);

/// Blocks other than events hold records, each padded to 8 bytes.
struct RecordHeader {
    std::uint16_t type; ///< says what it is within its kind of block
    std::uint16_t unused;
    std::uint32_t length; ///< bytes that follow, padding not counted
};
static_assert(sizeof(RecordHeader) == 8);

/// Record types of process blocks.
namespace record {
constexpr std::uint16_t processStart = 1;
constexpr std::uint16_t processEnd = 2;
constexpr std::uint16_t recorderMemory = 3;
constexpr std::uint16_t mark = 4;
} // namespace record

enum class Cause : std::uint32_t { start = 0, fork = 1, exec = 2 };

constexpr const char* name(Cause cause) noexcept {
    if (cause == Cause::fork) {
        return "fork";
    }
    return cause == Cause::exec ? "exec" : "start";
}

constexpr std::uint32_t noProcess = 0xFFFF'FFFF;

/// record::processStart; the program's path and its arguments follow, `exeLength` and `argsLength`
/// bytes, the arguments each ended by a zero byte. After exec the process gets a new number.
struct ProcessStart {
    std::uint32_t process;
    std::uint32_t parent; ///< its number, or noProcess
    std::uint32_t pid;
    Cause cause;
    std::uint64_t time;   ///< ticks since startTicks
    std::uint32_t thread; ///< fork: the number of the thread that forked; its heap is inherited
    std::uint32_t exeLength;
    std::uint32_t argsLength;
    std::uint32_t parentPid; ///< as the kernel says; a reader finds the parent by it
};
static_assert(sizeof(ProcessStart) == 40);

/// record::processEnd
struct ProcessEnd {
    std::uint32_t process;
    std::uint32_t how; ///< 0 = exit in order, 1 = replaced by exec
    std::uint64_t time;
};
static_assert(sizeof(ProcessEnd) == 16);

/// record::recorderMemory: addresses that the recorder has mapped for itself in the process. A
/// forked process has them, too.
struct RecorderMemory {
    std::uint64_t begin;
    std::uint64_t end;
};
static_assert(sizeof(RecorderMemory) == 16);

/// record::mark: a moment that the program or a signal has named. The name follows, `length` bytes.
struct Mark {
    std::uint64_t time;  ///< ticks since startTicks
    std::uint32_t cause; ///< 0 = the program called heapwright_mark; else the number of a signal
    std::uint32_t length;
};
static_assert(sizeof(Mark) == 16);
constexpr std::size_t longestMark = 120; ///< bytes of a name; a recorder cuts longer ones

/// The largest event that the encoding makes; an encoder asks for this much room before each.
constexpr std::size_t maxEventSize = 96;

} // namespace heapwright::trace
