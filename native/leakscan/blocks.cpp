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
constexpr std::uint64_t leastTeardown = 20'000'000; ///< ns

std::uint64_t usableOf(const trace::Event& event) {
    return std::min(std::max({event.usable, event.size, std::uint64_t{1}}), mostUsable);
}

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
    applyAll(trace, process, ~std::uint64_t{0});
    blocks_.reserve(live_.size());
    for (const auto& [address, block] : live_) {
        blocks_.push_back(block);
    }
    std::sort(blocks_.begin(), blocks_.end(),
              [](const Block& a, const Block& b) { return a.begin < b.begin; });
    live_.clear();
}

/// Applies the events before `until`, after those of the process that forked this one.
void LiveBlocks::applyAll(const trace::Trace& trace, std::uint32_t process, std::uint64_t until) {
    for (const trace::ProcessInfo& each : trace.processes()) {
        if (each.process == process && each.cause == trace::Cause::fork &&
            each.parent < process) { // a parent has a smaller number than its children
            applyAll(trace, each.parent, std::min(until, each.start));
            for (auto& [address, block] : live_) {
                block.inherited = true;
            }
            break;
        }
    }
    trace::Selection selection;
    selection.process = process;
    selection.splitMoves = true;
    trace::MergedEvents events(trace, selection);
    for (trace::Event event; events.next(event) && event.time < until;) {
        forgetFreed(event.time);
        apply(event);
    }
}

void LiveBlocks::apply(const trace::Event& event) {
    if (trace::isFree(event.routine)) {
        end(event.address, event.time);
        return;
    }
    const auto old = live_.find(event.old);
    if (trace::isRealloc(event.routine) && event.old != 0 && event.address == event.old &&
        old != live_.end() && event.size <= old->second.size) { // it keeps its address and its age
        old->second.size = event.size;
        old->second.usable = usableOf(event);
        return;
    }
    const bool failed = event.address == 0 && event.size != 0;
    if (trace::isRealloc(event.routine) && event.old != 0 && !failed &&
        (event.old == event.address || event.address == 0)) {
        // In place, or to nothing. The release has reported a moved block.
        end(event.old, event.time);
    }
    if (event.address != 0) {
        begin(event);
    }
}

void LiveBlocks::begin(const trace::Event& event) {
    const std::uint64_t usable = usableOf(event);
    live_[event.address] = {event.address, event.size, usable, event.stack, event.time};
    pages_.set(event.address, std::min(usable, std::uint64_t{1} << 36), true);
}

void LiveBlocks::forgetFreed(std::uint64_t time) {
    const std::uint64_t lately = std::min(std::max(leastTeardown, time / 100), time / 10);
    while (!freed_.empty() && freed_.front().time + lately < time) {
        freed_.pop_front();
    }
}

std::vector<Freed> LiveBlocks::freedLately() const {
    return {freed_.begin(), freed_.end()};
}

void LiveBlocks::end(std::uint64_t address, std::uint64_t time) {
    const auto found = live_.find(address);
    if (found == live_.end()) {
        return;
    }
    if (found->second.usable >= large) {
        pages_.set(address, std::min(found->second.usable, std::uint64_t{1} << 36), false);
    }
    freed_.push_back({address, found->second.usable, time});
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
