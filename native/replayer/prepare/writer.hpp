// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a plan's file. Each thread's commands go into its own chunks, which grow from 4 to 64 KiB.
// Ten thousand threads are therefore as cheap as one. Memory is one open chunk per thread.
#pragma once

#include "replayer/plan.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heapwright::replayer {

class PlanWriter {
public:
    /// Throws std::system_error if the file cannot be made or written, here and in all verbs.
    PlanWriter(const std::string& path, std::size_t threads);
    ~PlanWriter();
    PlanWriter(const PlanWriter&) = delete;
    PlanWriter& operator=(const PlanWriter&) = delete;

    /// One command of a thread; it is never torn over two chunks.
    void add(std::size_t thread, std::span<const std::uint64_t> words);
    void control(std::size_t thread, Control what, std::uint64_t value = 0) {
        const std::uint64_t word[] = {controlWord(what, value)};
        add(thread, word);
    }

    /// Ends all threads and writes directory and header; the writer fills in what it knows of
    /// both. Answers the header as it was written.
    PlanHeader close(PlanHeader header, std::vector<PlanThread> directory);

private:
    struct Stream {
        std::vector<std::uint64_t> words; ///< the open chunk, its header first
        std::uint64_t offset = 0;         ///< where that will stand
        std::uint64_t first = 0;
        std::uint64_t firstBytes = 0;
        std::uint64_t bytes = 0;
        std::size_t room = smallestChunk; ///< of the open chunk
    };

    void open(Stream& stream);
    void seal(Stream& stream, bool last);
    void write(const void* bytes, std::size_t length, std::uint64_t offset);

    int file_;
    std::uint64_t end_;
    std::vector<Stream> streams_;
};

} // namespace heapwright::replayer
