// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Opens a trace: The header, the walk over the blocks, and the contents of single blocks. What is
// made of the blocks afterwards, processes and threads, is in processes.cpp.
#include "trace/reader.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "trace/blocks.hpp"
#include "trace/fault_list.hpp"
#include "trace/file_map.hpp"

namespace heapwright::trace {

namespace {
constexpr std::uint64_t walkWindow = 16 << 20; ///< bytes that the walk leaves mapped behind it
}

Trace::Trace(const std::string& path)
    : file_(std::make_unique<FileMap>(path)), faults_(std::make_unique<FaultList>()) {
    read();
}

Trace::Trace(std::span<const std::byte> bytes)
    : file_(std::make_unique<FileMap>(bytes)), faults_(std::make_unique<FaultList>()) {
    read();
}

Trace::~Trace() = default;
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;

void Trace::read() {
    readHeader();
    walk();
    readProcesses();
    orderThreads();
}

void Trace::readHeader() {
    const std::span<const std::byte> bytes = file_->bytes();
    if (bytes.empty())
        throw TraceError("the file is empty", 0);
    const std::size_t present = std::min(bytes.size(), sizeof header_);
    std::memcpy(&header_, bytes.data(), present);
    const std::size_t magic = std::min(present, sizeof fileMagic);
    if (std::memcmp(header_.magic, fileMagic, magic) != 0)
        throw TraceError("this is no trace of Heapwright", 0);
    if (present < offsetof(FileHeader, headerSize))
        throw TraceError("the file ends within its header", bytes.size());
    if (header_.byteOrder != byteOrderMark)
        throw TraceError("the trace is of a machine with another byte order, or damaged",
                         offsetof(FileHeader, byteOrder));
    if (header_.version != formatVersion)
        throw TraceError("the trace is of format version " + std::to_string(header_.version) +
                             "; this program reads version " + std::to_string(formatVersion),
                         offsetof(FileHeader, version));
    if (bytes.size() < pageSize)
        throw TraceError("the file ends within its header", bytes.size());
    if (header_.headerSize != pageSize)
        throw TraceError("the header is damaged: its size", offsetof(FileHeader, headerSize));
    if (header_.ticksPerSecond == 0 || header_.ticksPerSecond > 1'000'000'000'000)
        throw TraceError("the header is damaged: its clock", offsetof(FileHeader, ticksPerSecond));
    if (header_.checksum != headerChecksum(header_))
        addFault(offsetof(FileHeader, checksum), "the header does not match its checksum");
    __extension__ using Wide = unsigned __int128;
    nsPerTick_ = static_cast<std::uint64_t>((Wide{1'000'000'000} << 32) / header_.ticksPerSecond);
}

std::uint64_t Trace::nanoseconds(std::uint64_t ticks) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{ticks} * nsPerTick_) >> 32);
}

std::uint64_t Trace::endOfBlocks() const {
    const std::uint64_t size = file_->bytes().size();
    const std::uint64_t claimed = header_.claimed;
    if (claimed < pageSize || claimed % pageSize != 0) {
        addFault(offsetof(FileHeader, claimed), "the header is damaged: where the blocks end");
        return size;
    }
    if (claimed > size && header_.stop == Stop::none)
        addFault(size,
                 "the file is cut off: " + std::to_string(claimed - size) + " bytes are missing");
    if (claimed < size && header_.closed != 0) {
        addFault(offsetof(FileHeader, claimed), "the file has more bytes than its header says");
        return size;
    }
    return std::min(claimed, size);
}

void Trace::walk() {
    const std::uint64_t end = endOfBlocks();
    const std::byte* const bytes = file_->bytes().data();
    std::uint64_t offset = pageSize;
    std::uint64_t letGo = 0;
    bool lostTrack = false;
    while (offset + sizeof(BlockHeader) <= end) {
        // Each look at a header brings its neighbours into memory, too.
        if (offset - letGo >= walkWindow) {
            file_->letGo(letGo, offset - letGo);
            letGo = offset;
        }
        BlockHeader block;
        std::memcpy(&block, bytes + offset, sizeof block);
        if (block.magic == blockMagic && takeBlock(offset, block, end)) {
            offset += pageSize << block.sizeShift;
            lostTrack = false;
            continue;
        }
        // A page of zeros was claimed and never begun. Anything else is damage, reported once.
        if (block.magic != 0 && block.magic != blockMagic && !lostTrack) {
            addFault(offset, "there is no block here");
            lostTrack = true;
        }
        offset += pageSize;
    }
}

bool Trace::takeBlock(std::uint64_t offset, const BlockHeader& block, std::uint64_t end) {
    const std::uint64_t most = 2 * (file_->bytes().size() / pageSize) + 1024;
    const auto kind = static_cast<unsigned>(block.kind);
    const bool sealed = (block.state & state::sealed) != 0;
    const bool known = (block.state & ~(state::open | state::sealed | state::ended)) == 0 &&
                       kind >= 1 && kind <= 5 && block.sizeShift < 32 &&
                       (pageSize << block.sizeShift) <= maxBlockSize;
    if (!known || block.thread >= most || block.process >= most) {
        addFault(offset, "a block's header is damaged");
        return false;
    }
    const std::uint64_t whole = pageSize << block.sizeShift;
    const std::uint64_t present = std::min(whole, end - offset);
    const auto room = static_cast<std::uint32_t>(present - sizeof block);
    if (present < whole)
        addFault(end, "a block is cut off that begins at byte " + std::to_string(offset));
    auto used = static_cast<std::uint32_t>(block.published);
    if (used > whole - sizeof block) {
        addFault(offset + offsetof(BlockHeader, published), "a block says more than it holds");
        return false;
    }
    if (block.kind == BlockKind::events && !sealed)
        used = room;
    const bool whollySealed = sealed && present == whole;
    blocks_.push_back({.offset = offset,
                       .firstTicks = block.firstTime,
                       .lastTicks = sealed ? block.lastTime : 0,
                       .size = static_cast<std::uint32_t>(present),
                       .used = std::min(used, room),
                       .events = static_cast<std::uint32_t>(block.published >> 32),
                       .process = block.process,
                       .thread = block.thread,
                       .sequence = block.sequence,
                       .threadId = block.threadId,
                       .lost = block.lost,
                       .backwards = block.backwards,
                       .kind = block.kind,
                       .sealed = whollySealed,
                       .ended = (block.state & state::ended) != 0,
                       .stackBits = std::min(block.stackBits, mostStackBits)});
    return true;
}

std::uint64_t Trace::size() const {
    return file_->bytes().size();
}

bool Trace::complete() const {
    return header_.closed != 0 && faultCount() == 0;
}

std::span<const std::byte> Trace::bytes(const BlockInfo& block) const {
    return file_->bytes().subspan(block.offset, block.size);
}

std::span<const std::byte> Trace::unchecked(const BlockInfo& block) const {
    return bytes(block).subspan(sizeof(BlockHeader), block.used);
}

const char* Trace::flaw(const BlockInfo& block) const {
    if (!file_->reaches(block.offset + block.size))
        return cutOffSince;
    if (!block.sealed)
        return nullptr;
    const std::span<const std::byte> payload = unchecked(block);
    BlockHeader header;
    std::memcpy(&header, bytes(block).data(), sizeof header);
    const bool same = header.checksum == blockChecksum(header, payload.data(), payload.size());
    return same ? nullptr : wrongChecksum;
}

std::span<const std::byte> Trace::payload(const BlockInfo& block) const {
    if (const char* const wrong = flaw(block); wrong != nullptr) {
        addFault(block.offset, wrong);
        return {};
    }
    return unchecked(block);
}

void Trace::letGo(const BlockInfo& block) const {
    file_->letGo(block.offset, block.size);
}

std::vector<Record> Trace::records(BlockKind kind) const {
    std::vector<Record> found;
    for (const BlockInfo& block : blocks_) {
        if (block.kind != kind)
            continue;
        const std::span<const std::byte> payload = this->payload(block);
        std::size_t at = 0;
        while (at + sizeof(RecordHeader) <= payload.size()) {
            RecordHeader record;
            std::memcpy(&record, payload.data() + at, sizeof record);
            const std::size_t left = payload.size() - at - sizeof record;
            const std::uint64_t where = block.offset + sizeof(BlockHeader) + at;
            if (record.length > left) {
                addFault(where, "a record is longer than its block");
                break;
            }
            found.push_back({record.type, block.process, where + sizeof record,
                             payload.subspan(at + sizeof record, record.length),
                             nanoseconds(block.firstTicks)});
            at += sizeof record + ((record.length + std::size_t{7}) & ~std::size_t{7});
        }
    }
    return found;
}

const std::vector<Fault>& Trace::faults() const {
    return faults_->told;
}
std::uint64_t Trace::faultCount() const {
    return faults_->count;
}
void Trace::addFault(std::uint64_t offset, std::string what) const {
    faults_->add(offset, std::move(what));
}

} // namespace heapwright::trace
