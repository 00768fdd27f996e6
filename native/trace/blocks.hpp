// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The begin and the growth of a trace file, for all its writers. These are the recorder, its
// launcher, the sampler of the system's view, and the writer of generated traces. No function here
// allocates, throws or keeps state. Processes share only the header page, which all of them map.
//
// A writer claims a block with one atomic addition, which yields the block's offset. Then its bytes
// are reserved on the disk, so that a write to the mapped pages cannot raise SIGBUS. Without room,
// the header records this and no further claim is made. The failed claim stays a hole, which
// readers skip.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>

#include "trace/checksum.hpp"
#include "trace/layout.hpp"

namespace heapwright::trace {

/// A header for a file without blocks. The other fields (flags, sample, limit) may be set before or
/// after this call. Call `sealHeader` last.
inline FileHeader newHeader(Clock clock, unsigned clockShift, std::uint64_t ticksPerSecond,
                            std::uint64_t startTicks, std::uint64_t startUtc) noexcept {
    FileHeader header{};
    std::memcpy(header.magic, fileMagic, sizeof fileMagic);
    header.version = formatVersion;
    header.byteOrder = byteOrderMark;
    header.headerSize = pageSize;
    header.clock = clock;
    header.clockShift = clockShift;
    header.ticksPerSecond = ticksPerSecond;
    header.startTicks = startTicks;
    header.startUtc = startUtc;
    header.claimed = pageSize;
    header.recording = 1;
    return header;
}

/// After any change of the part that does not change while recording.
inline void sealHeader(FileHeader& header) noexcept {
    header.checksum = headerChecksum(header);
}

inline bool mayGrow(FileHeader& header) noexcept {
    return std::atomic_ref<Stop>(header.stop).load(std::memory_order_relaxed) == Stop::none;
}

inline void stopGrowing(FileHeader& header, Stop why) noexcept {
    Stop none = Stop::none;
    std::atomic_ref<Stop>(header.stop).compare_exchange_strong(none, why);
}

/// Claims and reserves a new block of `size` bytes. Returns its offset in the file; 0 without room.
inline std::uint64_t claim(FileHeader& header, int file, std::size_t size) noexcept {
    if (!mayGrow(header))
        return 0;
    const std::uint64_t at =
        std::atomic_ref<std::uint64_t>(header.claimed).fetch_add(size, std::memory_order_relaxed);
    if (header.limit != 0 && at + size > header.limit) {
        stopGrowing(header, Stop::limit);
        return 0;
    }
    int result = EINTR;
    while (result == EINTR)
        result = ::posix_fallocate(file, static_cast<off_t>(at), static_cast<off_t>(size));
    if (result == 0)
        return at;
    stopGrowing(header, result == ENOSPC || result == EFBIG || result == EDQUOT ? Stop::diskFull
                                                                                : Stop::failed);
    return 0;
}

/// Begins a block of records in memory that is zero.
inline BlockHeader* beginRecords(void* memory, BlockKind kind, unsigned sizeShift,
                                 std::uint32_t process, std::uint32_t sequence,
                                 std::uint64_t firstTime) noexcept {
    auto* const block = static_cast<BlockHeader*>(memory);
    *block = BlockHeader{};
    block->kind = kind;
    block->sizeShift = static_cast<std::uint8_t>(sizeShift);
    block->state = state::open;
    block->process = process;
    block->sequence = sequence;
    block->firstTime = firstTime;
    std::atomic_ref<std::uint32_t>(block->magic).store(blockMagic, std::memory_order_release);
    return block;
}

/// A piece of a record's bytes.
struct Piece {
    const void* bytes;
    std::size_t count;
};

/// Appends a record made of pieces, and publishes it; false if the block has no room for it. One
/// writer at a time.
template <typename... Pieces>
bool appendRecord(BlockHeader& block, std::uint16_t type, const Pieces&... pieces) noexcept {
    const std::size_t length = (std::size_t{0} + ... + pieces.count);
    const std::size_t padded = (sizeof(RecordHeader) + length + 7) & ~std::size_t{7};
    const std::uint64_t published = block.published;
    const std::size_t used = static_cast<std::uint32_t>(published);
    const std::size_t room = (pageSize << block.sizeShift) - sizeof(BlockHeader) - used;
    if (padded > room)
        return false;
    auto* at = reinterpret_cast<std::byte*>(&block + 1) + used;
    const RecordHeader header{type, 0, static_cast<std::uint32_t>(length)};
    std::memcpy(at, &header, sizeof header);
    at += sizeof header;
    const auto copy = [&at](const Piece& piece) {
        if (piece.count != 0)
            std::memcpy(at, piece.bytes, piece.count);
        at += piece.count;
    };
    (copy(pieces), ...);
    std::atomic_ref<std::uint64_t>(block.published)
        .store(published + padded + (std::uint64_t{1} << 32), std::memory_order_release);
    return true;
}

inline void sealRecords(BlockHeader& block, std::uint64_t lastTime) noexcept {
    block.lastTime = lastTime;
    BlockHeader sealed = block;
    sealed.state = state::sealed;
    block.checksum = blockChecksum(sealed, &block + 1, static_cast<std::uint32_t>(block.published));
    std::atomic_ref<std::uint8_t>(block.state).store(state::sealed, std::memory_order_release);
}

} // namespace heapwright::trace
