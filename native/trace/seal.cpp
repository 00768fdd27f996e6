// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/seal.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <system_error>
#include <unistd.h>

#include "trace/checksum.hpp"
#include "trace/decoder.hpp"
#include "trace/reader.hpp"

namespace heapwright::trace {

namespace {

/// A file to write to.
class Output {
public:
    explicit Output(const std::string& path) : file_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
        if (file_ < 0)
            throw std::system_error(errno, std::generic_category(), path);
    }
    ~Output() { ::close(file_); }
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    void write(const BlockHeader& header, std::uint64_t at) const {
        if (::pwrite(file_, &header, sizeof header, static_cast<off_t>(at)) !=
            static_cast<ssize_t>(sizeof header))
            throw std::system_error(errno, std::generic_category(), "a block");
    }

private:
    int file_;
};

/// The header of an open block as it would be if its writer had sealed it; nothing if it is
/// damaged.
std::optional<BlockHeader> sealed(const Trace& trace, const BlockInfo& block) {
    BlockHeader header;
    std::memcpy(&header, trace.bytes(block).data(), sizeof header);
    const std::span<const std::byte> payload = trace.unchecked(block);
    std::size_t used = payload.size();
    header.lastTime = header.firstTime;
    if (block.kind == BlockKind::events) {
        BlockDecoder decoder;
        decoder.begin(payload, block.stackBits, true, block.firstTicks);
        std::uint64_t events = 0;
        for (Event event; decoder.next(event); ++events)
            header.lastTime = event.time;
        if (decoder.wrong() != nullptr)
            return std::nullopt;
        used = decoder.position();
        header.published = used | (events << 32);
    }
    header.state = state::sealed;
    header.checksum = blockChecksum(header, payload.data(), used);
    return header;
}

} // namespace

std::size_t sealOpenBlocks(const std::string& path) {
    const Trace trace(path);
    const Output output(path);
    std::size_t count = 0;
    for (const BlockInfo& block : trace.blocks()) {
        if (block.sealed || trace.flaw(block) != nullptr)
            continue;
        if (const std::optional<BlockHeader> header = sealed(trace, block)) {
            output.write(*header, block.offset);
            ++count;
        }
    }
    return count;
}

} // namespace heapwright::trace
