// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks one by one, and the table made anew. A table without places finds nothing and takes
// nothing before `reserve`.
#include "profiler/live_blocks.hpp"

namespace heapwright::profiler {

const LiveBlocks::Place* LiveBlocks::look(std::uint64_t address) const {
    if (places_.size() == 0)
        return nullptr;
    const Place& place = Table{const_cast<Place*>(places_.begin()), mask_, shift_}.locate(address);
    return place.mark != 0 ? &place : nullptr;
}

Block LiveBlocks::blockAt(const Place& place) const {
    Block block;
    block.address = place.address;
    block.born = place.born;
    block.operation = place.operation();
    block.thread = place.thread();
    block.size = place.size;
    block.slack = place.usable - place.size;
    if (place.size == large) {
        block.size = extents_[place.usable].size;
        block.slack = extents_[place.usable].slack;
    }
    if (sites_.size() != 0)
        block.site = sites_[static_cast<std::size_t>(&place - places_.begin())];
    return block;
}

std::optional<Block> LiveBlocks::find(std::uint64_t address) const {
    const Place* const place = look(address);
    return place != nullptr ? std::optional(blockAt(*place)) : std::nullopt;
}

void LiveBlocks::setExtent(Place& place, const Extent& extent) {
    if (extent.size + extent.slack < large && extent.size < large) {
        place.size = static_cast<std::uint32_t>(extent.size);
        place.usable = static_cast<std::uint32_t>(extent.size + extent.slack);
        return;
    }
    place.size = large;
    if (freeExtents_.empty()) {
        place.usable = static_cast<std::uint32_t>(extents_.size());
        extents_.push_back(extent);
        return;
    }
    place.usable = freeExtents_.back();
    freeExtents_.pop_back();
    extents_[place.usable] = extent;
}

void LiveBlocks::dropExtent(const Place& place) {
    if (place.size == large)
        freeExtents_.push_back(place.usable);
}

void LiveBlocks::insert(const Block& block) {
    reserve(1);
    Place& place = locate(block.address);
    used_ += place.address == 0 ? 1 : 0;
    place.address = block.address;
    place.born = block.born;
    place.mark = markOf(block.operation & 0xFF'FFFF'FFFF, block.thread);
    setExtent(place, {block.size, block.slack});
    if (block.site != 0 || sites_.size() != 0)
        siteAt(place) = block.site;
    ++live_;
}

void LiveBlocks::remove(std::uint64_t address) {
    Place& place = locate(address);
    dropExtent(place);
    place.mark = 0;
    --live_;
}

void LiveBlocks::resize(std::uint64_t address, std::uint64_t size, std::uint32_t slack) {
    Place& place = locate(address);
    dropExtent(place);
    setExtent(place, {size, slack});
}

void LiveBlocks::makeRoom(std::size_t count) {
    std::size_t bits = std::max(fewest, 64 - shift_);
    while (live_ + count > (std::size_t{1} << bits) / 8 * 3)
        ++bits;
    ZeroedArray<Place> old(std::size_t{1} << bits);
    std::swap(old, places_);
    ZeroedArray<std::uint32_t> oldSites;
    if (sites_.size() != 0) {
        oldSites = std::move(sites_);
        sites_ = ZeroedArray<std::uint32_t>(places_.size());
    }
    mask_ = places_.size() - 1;
    shift_ = static_cast<unsigned>(64 - bits);
    most_ = places_.size() / 8 * 5;
    used_ = live_;
    for (const Place& place : old) {
        if (place.mark == 0)
            continue;
        Place& moved = locate(place.address);
        moved = place;
        if (oldSites.size() != 0)
            siteAt(moved) = oldSites[static_cast<std::size_t>(&place - old.begin())];
    }
}

} // namespace heapwright::profiler
