// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "blocks.hpp"

#include <algorithm>

namespace heapwright::leakscan {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t part = 512 * page;
constexpr std::uint64_t mostUsable = std::uint64_t{1} << 46; // nothing larger has an address
/// Blocks of this size often have a mapping of their own, which is unmapped when they are freed.
constexpr std::uint64_t large = 128 << 10;

} // namespace

void PageSet::set(std::uint64_t begin, std::uint64_t bytes, bool in) {
    const std::uint64_t end = (begin + bytes - 1) / page + 1;
    for (std::uint64_t at = begin / page; at < end;) {
        const std::uint64_t behind = std::min(end, (at / 512 + 1) * 512);
        setInPart(at, behind, in);
        at = behind;
    }
}

void PageSet::setInPart(std::uint64_t first, std::uint64_t behind, bool in) {
    const std::uint64_t number = first / 512;
    if (behind - first == 512 && !in) {
        parts_.erase(number);
    } else if (behind - first == 512) {
        parts_[number].set();
    } else if (const auto found = parts_.find(number); in || found != parts_.end()) {
        std::bitset<512>& pages = in ? parts_[number] : found->second;
        for (std::uint64_t at = first; at < behind; ++at) {
            pages.set(at % 512, in);
        }
    }
}

bool PageSet::has(std::uint64_t address) const {
    const auto found = parts_.find(address / part);
    return found != parts_.end() && found->second.test(address / page % 512);
}

std::optional<std::uint32_t> processOf(const trace::Trace& trace, std::uint32_t pid) {
    std::optional<std::uint32_t> last;
    for (const trace::ProcessInfo& process : trace.processes()) {
        if (process.pid == pid) {
            last = process.process;
        }
    }
    return last;
}

LiveBlocks::LiveBlocks(const trace::Trace& trace, std::uint32_t process) {
    trace::Selection selection;
    selection.process = process;
    selection.splitMoves = true;
    trace::MergedEvents events(trace, selection);
    for (trace::Event event; events.next(event);) {
        apply(event);
    }
    blocks_.reserve(live_.size());
    for (const auto& [address, block] : live_) {
        blocks_.push_back(block);
    }
    std::sort(blocks_.begin(), blocks_.end(),
              [](const Block& a, const Block& b) { return a.begin < b.begin; });
    live_.clear();
}

void LiveBlocks::apply(const trace::Event& event) {
    if (trace::isFree(event.routine)) {
        end(event.address);
        return;
    }
    const bool failed = event.address == 0 && event.size != 0;
    if (trace::isRealloc(event.routine) && event.old != 0 && !failed &&
        (event.old == event.address || event.address == 0)) {
        end(event.old); // in place, or from nothing; a moved block was reported by its release
    }
    if (event.address != 0) {
        begin(event);
    }
}

void LiveBlocks::begin(const trace::Event& event) {
    const std::uint64_t usable =
        std::min(std::max({event.usable, event.size, std::uint64_t{1}}), mostUsable);
    live_[event.address] = {event.address, event.size, usable, event.stack, false};
    pages_.set(event.address, std::min(usable, std::uint64_t{1} << 36), true);
}

void LiveBlocks::end(std::uint64_t address) {
    const auto found = live_.find(address);
    if (found == live_.end()) {
        return;
    }
    if (found->second.usable >= large) {
        pages_.set(address, std::min(found->second.usable, std::uint64_t{1} << 36), false);
    }
    live_.erase(found);
}

Block* LiveBlocks::find(std::uint64_t address) {
    auto behind = std::upper_bound(
        blocks_.begin(), blocks_.end(), address,
        [](std::uint64_t wanted, const Block& block) { return wanted < block.begin; });
    if (behind == blocks_.begin()) {
        return nullptr;
    }
    Block& block = *--behind;
    return address - block.begin < block.usable ? &block : nullptr;
}

} // namespace heapwright::leakscan
