// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a trace: of a program that ended, was killed, or still runs. `Trace` maps the file and
// walks the block headers, one small entry a block. Events are decoded block by block on request,
// each block against its checksum. Pages are released after use. Damaged parts are skipped and
// reported (`faults`), with their place in the file. A file that is no trace at all, or of another
// version, is refused with TraceError. Each number of the file is checked against a bound before
// use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.hpp"
#include "trace/fault_list.hpp"
#include "trace/layout.hpp"

namespace heapwright::trace {

/// Why a file cannot be read, and where in it.
class TraceError : public std::runtime_error {
public:
    TraceError(const std::string& message, std::uint64_t where)
        : std::runtime_error(message + ", at byte " + std::to_string(where)), offset(where) {}
    std::uint64_t offset;
};

/// What is said of a block that was changed after it was written.
constexpr const char* wrongChecksum = "a block does not match its checksum";
/// And of one that is there no more.
constexpr const char* cutOffSince = "the file was cut off while it was read";

struct ThreadInfo {
    std::uint32_t thread = 0;
    std::uint32_t process = 0;
    std::uint32_t threadId = 0;
    std::uint64_t events = 0; ///< as far as published when the file was opened
    std::uint64_t lost = 0;
    std::uint64_t backwards = 0;       ///< times that the clock had gone back while recording
    std::uint64_t firstTime = 0;       ///< ns
    std::uint64_t lastTime = 0;        ///< ns; of an open block not known before it is decoded
    bool ended = false;                ///< the thread said that it ended
    std::vector<std::uint32_t> blocks; ///< into Trace::blocks(), in order
};

struct ProcessInfo {
    std::uint32_t process = 0;
    std::uint32_t parent = noProcess;
    std::uint32_t pid = 0;
    std::uint32_t parentPid = 0;
    Cause cause = Cause::start;
    std::uint32_t forkingThread = 0;
    std::uint64_t start = 0; ///< ns
    std::uint64_t end = 0;   ///< ns; 0 = it never said
    bool replaced = false;   ///< it became another program (exec)
    std::string executable;
    std::vector<std::string> arguments;
};

/// A moment that a program or a signal has named.
struct MarkInfo {
    std::uint32_t process = 0;
    std::uint64_t time = 0;   ///< ns
    std::uint32_t signal = 0; ///< that made it; 0 = the program itself
    std::string name;
};

/// One block as the walk found it.
struct BlockInfo {
    std::uint64_t offset;
    std::uint64_t firstTicks;
    std::uint64_t lastTicks;
    std::uint32_t size; ///< as far as it is in the file
    std::uint32_t used; ///< of its payload; of an open block of events as far as it may go
    std::uint32_t events;
    std::uint32_t process;
    std::uint32_t thread;
    std::uint32_t sequence;
    std::uint32_t threadId;
    std::uint32_t lost;
    std::uint32_t backwards;
    BlockKind kind;
    bool sealed;
    bool ended;
    std::uint8_t stackBits; ///< as the header has it, at most 16
};

/// One record of a block that is not of events. `bytes` lives as long as the trace.
struct Record {
    std::uint16_t type;
    std::uint32_t process;
    std::uint64_t offset;
    std::span<const std::byte> bytes;
    std::uint64_t time; ///< ns: when its block was begun
};

class FileMap;

class Trace {
public:
    /// Throws TraceError; std::system_error where the file cannot be opened.
    explicit Trace(const std::string& path);
    /// Of a file's bytes in memory, which outlive it.
    explicit Trace(std::span<const std::byte> bytes);
    ~Trace();
    Trace(Trace&&) noexcept;
    Trace& operator=(Trace&&) noexcept;

    const FileHeader& header() const { return header_; }
    bool has(std::uint32_t which) const { return (header_.flags & which) != 0; }
    std::uint64_t size() const; ///< of the file
    bool complete() const;      ///< closed in order, and nothing was missing

    const std::vector<ProcessInfo>& processes() const { return processes_; } ///< by number
    const std::vector<ThreadInfo>& threads() const { return threads_; }      ///< by number
    const std::vector<MarkInfo>& marks() const { return marks_; }            ///< by time
    const std::vector<BlockInfo>& blocks() const { return blocks_; }
    std::uint64_t events() const { return events_; } ///< published when the file was opened

    /// All records of a kind of block, in the order of the file.
    std::vector<Record> records(BlockKind kind) const;
    std::vector<Record> stacks() const { return records(BlockKind::stacks); }
    std::vector<Record> modules() const { return records(BlockKind::modules); }
    std::vector<Record> system() const { return records(BlockKind::system); }

    /// What the walk, and the decoding so far, could not use. The list ends at a thousand; the
    /// count goes on.
    const std::vector<Fault>& faults() const;
    std::uint64_t faultCount() const;
    void addFault(std::uint64_t offset, std::string what) const;

    std::uint64_t nanoseconds(std::uint64_t ticks) const; ///< since the trace began
    std::uint64_t perTick() const { return nsPerTick_; }  ///< ns, times 2^32
    std::span<const std::byte> bytes(const BlockInfo& block) const;
    /// The block's payload, or nothing where that cannot be read: that is then a fault.
    std::span<const std::byte> payload(const BlockInfo& block) const;
    /// The two parts of `payload`: the bytes, and the reason why they must not be read, if there is
    /// one.
    std::span<const std::byte> unchecked(const BlockInfo& block) const;
    const char* flaw(const BlockInfo& block) const;
    void letGo(const BlockInfo& block) const; ///< its pages need not stay in memory

private:
    void read();
    void readHeader();
    std::uint64_t endOfBlocks() const;
    void walk();
    bool takeBlock(std::uint64_t offset, const BlockHeader& block, std::uint64_t end);
    void readProcesses();
    void readProcess(const Record& record);
    void readMark(const Record& record);
    void linkProcesses();
    void orderThreads();
    void orderThread(ThreadInfo& thread);
    void countOpen(BlockInfo& block) const;

    std::unique_ptr<FileMap> file_;
    FileHeader header_{};
    std::uint64_t nsPerTick_ = 0; ///< times 2^32
    std::uint64_t events_ = 0;
    std::vector<BlockInfo> blocks_;
    std::vector<ProcessInfo> processes_;
    std::vector<ThreadInfo> threads_;
    std::vector<MarkInfo> marks_;
    std::unique_ptr<FaultList> faults_;
};

class BlockDecoder;

/// One thread's events in order. Several can read one trace at a time, in one thread.
class ThreadEvents {
public:
    ThreadEvents(const Trace& trace, std::uint32_t thread);
    ~ThreadEvents();
    ThreadEvents(ThreadEvents&&) noexcept;
    ThreadEvents& operator=(ThreadEvents&&) noexcept;

    bool next(Event& event);
    std::uint64_t held() const { return held_; } ///< events whose time had gone back

private:
    bool nextBlock();
    void hold(Event& event);

    const Trace* trace_;
    std::uint32_t thread_;
    std::size_t block_ = 0; ///< the next to be decoded, of the thread's
    std::uint64_t lastTime_ = 0;
    std::uint64_t held_ = 0;
    std::unique_ptr<BlockDecoder> decoder_;
};

/// Which events, and in what form.
struct Selection {
    static constexpr std::uint32_t all = noProcess;
    std::uint32_t process = all;
    /// A realloc that moved its block is reported in two events. The first is `release` of the old
    /// block when the call was entered. The second is the realloc itself when it returned. Without
    /// it another thread may get the old block's address before the realloc is reported.
    bool splitMoves = false;
};

/// The events of all threads in the order of their times. Memory is that of the threads alive.
class MergedEvents {
public:
    explicit MergedEvents(const Trace& trace, Selection selection = {});
    ~MergedEvents();
    MergedEvents(MergedEvents&&) noexcept;
    MergedEvents& operator=(MergedEvents&&) noexcept;

    bool next(Event& event);

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace heapwright::trace
