// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread's calls, decoded chunk by chunk. Chunks begin small and double, so that ten thousand
// threads with few calls each are cheap. A fault is reported only after the calls before it were
// taken. Faults are therefore reported in the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "trace/call.hpp"
#include "trace/decoder.hpp"
#include "trace/reader.hpp"

namespace heapwright::trace {

/// Chunks that are used again and again.
class ChunkPool {
public:
    /// A chunk with room for this number of calls, and no events.
    CallChunk* take(std::size_t calls);
    void giveBack(CallChunk* chunk);

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<CallChunk>> all_;
    std::vector<CallChunk*> free_;
};

class CallStream {
public:
    CallStream(const Trace& trace, std::uint32_t thread, ChunkPool& pool);

    /// Decodes until there is a call; false at the end. To be called before all else.
    bool begin();
    /// Time and thread of the next call.
    std::pair<std::uint64_t, std::uint32_t> key() const {
        return {chunk_->calls[at_].time, thread_};
    }
    /// The decoded calls up to time `last`, which is not before the next call.
    CallRun take(std::uint64_t last);
    /// Goes on after `take`; false at the end.
    bool advance();

private:
    struct LateFault {
        std::uint64_t before; ///< calls that are to be taken first
        std::uint64_t offset;
        std::string what;
    };

    bool fill();
    bool decodeMore();
    bool nextBlock();
    void add(Event event);
    Call& addBeside(const Event& event, CallKind kind);
    void note(std::uint64_t offset, std::string what);
    void tellFaults();
    std::size_t endOfRun(std::uint64_t last) const;
    Call& push(std::uint64_t time, CallKind kind, Routine routine);
    std::uint64_t produced() const { return taken_ + count_ - at_; }

    static constexpr std::size_t fewest = 64;
    static constexpr std::size_t most = 1024;

    const Trace& trace_;
    ChunkPool& pool_;
    std::uint32_t thread_;
    std::uint32_t process_ = 0;
    CallChunk* chunk_ = nullptr;
    std::size_t room_ = fewest; ///< of the next chunk
    std::size_t at_ = 0;        ///< the next call of the chunk
    std::size_t count_ = 0;     ///< calls in the chunk
    std::uint64_t taken_ = 0;   ///< calls that were taken
    std::size_t block_ = 0;     ///< the next to be decoded, of the thread's
    std::uint64_t lastTime_ = 0;
    bool held_ = false;
    bool ended_ = false;
    std::deque<LateFault> faults_;
    BlockDecoder decoder_;
};

} // namespace heapwright::trace
