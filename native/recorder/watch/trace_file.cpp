// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "trace_file.hpp"

#include <atomic>
#include <fcntl.h>
#include <heapwright/platform/ticks.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace heapwright::recorder::watch {

namespace {

constexpr unsigned mostPatience = 200; // reads; by then the process that claimed the block has died

std::uint64_t load(std::uint64_t& word) {
    return std::atomic_ref(word).load(std::memory_order_acquire);
}

} // namespace

TraceFile::~TraceFile() {
    if (file_ >= 0) {
        close(file_);
    }
}

bool TraceFile::open(const char* path) {
    file_ = ::open(path, O_RDWR | O_CLOEXEC);
    struct stat facts {};
    if (file_ < 0 || fstat(file_, &facts) != 0 ||
        facts.st_size < static_cast<off_t>(trace::pageSize)) {
        return false;
    }
    device_ = facts.st_dev;
    inode_ = facts.st_ino;
    return blocks_.open(path) && blocks_.header()->clock != trace::Clock::counted;
}

std::uint64_t TraceFile::ticks() const {
    const trace::FileHeader& header = *blocks_.header();
    const std::uint64_t now = header.clock == trace::Clock::timestamp
                                  ? platform::ticks() >> header.clockShift
                                  : platform::clockNanoseconds(CLOCK_MONOTONIC);
    return now > header.startTicks ? now - header.startTicks : 0;
}

bool TraceFile::read(std::uint64_t offset, void* into, std::size_t size) const {
    return pread(file_, into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

void TraceFile::follow(std::vector<Started>& found) {
    trace::BlockHeader block{};
    std::erase_if(silent_, [&](std::uint64_t offset) {
        return read(offset, &block, sizeof block) && readStarts(offset, block, found);
    });
    const std::uint64_t end = load(blocks_.header()->claimed);
    while (next_ < end && read(next_, &block, sizeof block)) {
        if (block.magic != trace::blockMagic || block.sizeShift > 8) {
            if (++patience_ < mostPatience) {
                return;
            }
            next_ += trace::pageSize;
            continue;
        }
        patience_ = 0;
        if (block.kind == trace::BlockKind::process && !readStarts(next_, block, found)) {
            silent_.push_back(next_);
        }
        next_ += trace::pageSize << block.sizeShift;
    }
}

/// False if the block is still unwritten.
bool TraceFile::readStarts(std::uint64_t offset, const trace::BlockHeader& block,
                           std::vector<Started>& found) const {
    const std::uint64_t used = block.published & 0xFFFF'FFFF;
    const std::uint64_t begin = offset + sizeof block;
    trace::RecordHeader record{};
    for (std::uint64_t at = 0; at + sizeof record <= used;) {
        trace::ProcessStart start{};
        if (!read(begin + at, &record, sizeof record)) {
            break;
        }
        if (record.type == trace::record::processStart && record.length >= sizeof start &&
            read(begin + at + sizeof record, &start, sizeof start)) {
            found.push_back({start.process, static_cast<pid_t>(start.pid)});
        }
        at += sizeof record + ((std::uint64_t{record.length} + 7) & ~std::uint64_t{7});
    }
    return used != 0;
}

void* TraceFile::claim(unsigned sizeShift) {
    return blocks_.claim(trace::pageSize << sizeShift);
}

void TraceFile::release(trace::BlockHeader* block) {
    recorder::TraceFile::unmap(block, trace::pageSize << block->sizeShift);
}

} // namespace heapwright::recorder::watch
