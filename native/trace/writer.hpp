// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a trace that was not recorded, for generators, importers and tests. Each thread has one
// block in memory, which goes to the file when it is full, so the memory is that of the threads.
// Events of one thread come in the order of their times; threads in any order. Errors of the system
// are thrown as std::system_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace/encoder.hpp"
#include "trace/event.hpp"
#include "trace/layout.hpp"

namespace heapwright::trace {

struct WriterOptions {
    std::uint32_t flags = flag::generated;
    Clock clock = Clock::counted;
    std::uint64_t ticksPerSecond = 1'000'000'000; ///< coarser ticks make smaller files
    std::uint64_t startUtc = 0;
    std::uint64_t sampleInterval = 0;
    std::uint64_t sampleSalt = 0;
};

/// A process as its caller describes it to the writer. Times are in ns since the trace began.
struct ProcessText {
    std::uint32_t pid = 0;
    std::uint32_t parent = noProcess;
    Cause cause = Cause::start;
    std::uint64_t start = 0;
    std::uint32_t forkingThread = 0;
    std::string executable;
    std::vector<std::string> arguments;
};

class TraceWriter {
public:
    explicit TraceWriter(const std::string& path, const WriterOptions& options = {});
    ~TraceWriter(); ///< without close(): the file stays as of a writer that was killed
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    std::uint32_t process(const ProcessText& process = {}); ///< its number
    std::uint32_t thread(std::uint32_t process);            ///< its number
    /// Of event.thread, which must be a number from thread(). `process` is the thread's.
    void add(const Event& event);
    /// Nothing more comes of this thread; its memory is let go.
    void endThread(std::uint32_t thread);
    /// A record of any kind but events.
    void record(BlockKind kind, std::uint32_t process, std::uint16_t type,
                std::span<const std::byte> bytes);
    void close();

    std::uint64_t events() const { return events_; }

private:
    struct Thread;
    struct Records;

    std::uint64_t ticks(std::uint64_t nanoseconds) const;
    void begin(std::uint32_t number, Thread& thread, std::uint64_t time);
    void seal(Thread& thread, bool ended);
    void seal(Records& records);
    void write(const std::byte* bytes, std::size_t count, std::uint64_t where);
    void append(const std::byte* block, std::size_t count);

    int file_;
    FileHeader header_;
    std::uint64_t ticksPerNs_; ///< times 2^32
    std::uint64_t events_ = 0;
    std::uint64_t last_ = 0; ///< latest time seen, in ticks
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<std::unique_ptr<Records>> records_;
};

} // namespace heapwright::trace
