// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See process_block.hpp.
#include "process_block.hpp"

#include "trace/blocks.hpp"

#include <array>
#include <cstddef>
#include <fcntl.h>
#include <span>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::recorder {

namespace {

constexpr std::size_t mostPath = 1200;
constexpr std::size_t mostArguments = 1800;
constexpr std::size_t mostRanges = 24; ///< of the recorder's memory
static_assert(sizeof(trace::BlockHeader) + 2 * sizeof(trace::RecordHeader) +
                  sizeof(trace::ProcessStart) + sizeof(trace::ProcessEnd) + mostPath +
                  mostArguments + 16 +
                  mostRanges * (sizeof(trace::RecordHeader) + sizeof(trace::RecorderMemory)) <=
              trace::pageSize);

using Text = std::array<char, 4096>;

/// The program's path, without its head where it is too long.
std::span<const char> readPath(Text& room) noexcept {
    const long length =
        ::syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", room.data(), room.size());
    const std::size_t whole = length > 0 ? static_cast<std::size_t>(length) : 0;
    const std::size_t kept = whole < mostPath ? whole : mostPath;
    return {room.data() + (whole - kept), kept};
}

/// The arguments, each with a zero byte behind it.
std::span<const char> readArguments(Text& room) noexcept {
    const long file =
        ::syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) {
        return {};
    }
    const long length = ::syscall(SYS_read, file, room.data(), mostArguments);
    ::syscall(SYS_close, file);
    const std::size_t kept = length > 0 ? static_cast<std::size_t>(length) : 0;
    if (kept != 0) {
        room[kept - 1] = '\0';
    }
    return {room.data(), kept};
}

} // namespace

void writeProcessStart(trace::BlockHeader& block, trace::ProcessStart start) noexcept {
    Text pathRoom;
    Text argumentsRoom;
    const std::span<const char> path = readPath(pathRoom);
    const std::span<const char> arguments = readArguments(argumentsRoom);
    start.exeLength = static_cast<std::uint32_t>(path.size());
    start.argsLength = static_cast<std::uint32_t>(arguments.size());
    trace::appendRecord(block, trace::record::processStart, trace::Piece{&start, sizeof start},
                        trace::Piece{path.data(), path.size()},
                        trace::Piece{arguments.data(), arguments.size()});
}

void writeProcessEnd(trace::BlockHeader& block, const trace::ProcessEnd& end) noexcept {
    trace::appendRecord(block, trace::record::processEnd, trace::Piece{&end, sizeof end});
}

void writeRecorderMemory(trace::BlockHeader& block, const trace::RecorderMemory& memory) noexcept {
    constexpr std::size_t reserved = sizeof(trace::RecordHeader) + sizeof(trace::ProcessEnd);
    const std::size_t used = block.published & 0xFFFF'FFFF;
    if (sizeof block + used + sizeof(trace::RecordHeader) + sizeof memory + reserved <=
        trace::pageSize) {
        trace::appendRecord(block, trace::record::recorderMemory,
                            trace::Piece{&memory, sizeof memory});
    }
}

} // namespace heapwright::recorder
