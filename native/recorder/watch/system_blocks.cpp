// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "system_blocks.hpp"

#include "trace/blocks.hpp"

#include <algorithm>

namespace heapwright::recorder::watch {

namespace {

constexpr unsigned largestShift = 4; // 64 KiB
constexpr unsigned mostShift = 8;    // for what needs more

std::uint64_t padded(std::size_t size) {
    return (std::uint64_t{size} + 7) & ~std::uint64_t{7};
}

std::size_t used(const trace::BlockHeader& block) {
    return block.published & 0xFFFF'FFFF;
}

} // namespace

std::size_t SystemBlocks::room() const {
    return block_ == nullptr
               ? 0
               : (trace::pageSize << block_->sizeShift) - sizeof *block_ - used(*block_);
}

bool SystemBlocks::add(const trace::SystemSample& sample) {
    const bool complete = block_ == nullptr || used(*block_) == 0;
    std::string bytes = encoder_.encode(sample, complete);
    bool first = complete;
    if (!complete && room() < sizeof(trace::RecordHeader) + padded(bytes.size())) {
        bytes = encoder_.encode(sample, true);
        first = true;
        seal();
    }
    lastTime_ = sample.time;
    return put(first ? trace::record::systemComplete : trace::record::systemChanges, bytes);
}

bool SystemBlocks::addObjects(const std::string& paths) {
    // Behind a sample, so that each block begins with a complete one.
    const std::size_t most = (trace::pageSize << largestShift) / 2;
    const std::string text = paths.size() <= most ? paths : paths.substr(0, most);
    return room() >= sizeof(trace::RecordHeader) + padded(text.size()) &&
           put(trace::record::systemObjects, text);
}

bool SystemBlocks::put(std::uint16_t type, const std::string& bytes) {
    const std::size_t needed = sizeof(trace::RecordHeader) + padded(bytes.size());
    if (room() < needed && !begin(needed)) {
        return false;
    }
    return trace::appendRecord(*block_, type, trace::Piece{bytes.data(), bytes.size()});
}

bool SystemBlocks::begin(std::size_t needed) {
    seal();
    unsigned shift = std::min(sequence_, largestShift);
    while (shift < mostShift && (trace::pageSize << shift) - sizeof *block_ < needed) {
        ++shift;
    }
    if ((trace::pageSize << shift) - sizeof *block_ < needed) {
        return false;
    }
    void* const memory = file_->claim(shift);
    if (memory == nullptr) {
        return false;
    }
    block_ = trace::beginRecords(memory, trace::BlockKind::system, shift, process_, sequence_++,
                                 file_->ticks());
    return true;
}

void SystemBlocks::seal() {
    if (block_ != nullptr) {
        trace::sealRecords(*block_, std::max(lastTime_, block_->firstTime));
        TraceFile::release(block_);
    }
    block_ = nullptr;
}

} // namespace heapwright::recorder::watch
