// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The address space over time. A group's live bytes are taken modulo 2^64, so that the order in
// which a coarser group was put together does not matter.
#include "profiler/heap_map.hpp"

#include <algorithm>
#include <iterator>

namespace heapwright::profiler {
namespace {

/// Adds to the last of a column, if that is the group's, or behind it.
template <typename Column>
void append(Column& column, std::uint64_t group, std::uint64_t live) {
    if (!column.empty() && column.back().first == group)
        column.back().second += live;
    else
        column.emplace_back(group, live);
}

} // namespace

HeapMap::HeapMap(std::uint32_t process, std::uint64_t duration)
    : process_(process), step_(std::max<std::uint64_t>(1000, duration / (mostColumns - 4) + 1)),
      end_(step_), places_(64) {}

HeapMap::Region& HeapMap::find(std::uint64_t number) {
    Place& recent = recent_[number % recent_.size()];
    if (recent.number == number)
        return *recent.region;
    for (std::size_t at = homeOf(number); places_[at].number != nowhere;
         at = (at + 1) & (places_.size() - 1)) {
        if (places_[at].number != number)
            continue;
        recent = places_[at];
        return *recent.region;
    }
    return enter(number, std::make_unique<Region>());
}

/// A region that is not there yet.
HeapMap::Region& HeapMap::enter(std::uint64_t number, std::unique_ptr<Region> region) {
    regions_.push_back(std::move(region));
    if (4 * regions_.size() > places_.size()) {
        std::vector<Place> old(2 * places_.size());
        old.swap(places_);
        for (const Place& place : old) {
            std::size_t at = homeOf(place.number);
            while (places_[at].number != nowhere)
                at = (at + 1) & (places_.size() - 1);
            if (place.number != nowhere)
                places_[at] = place;
        }
    }
    std::size_t at = homeOf(number);
    while (places_[at].number != nowhere)
        at = (at + 1) & (places_.size() - 1);
    places_[at] = {number, regions_.back().get()};
    return *regions_.back();
}

void HeapMap::change(std::uint64_t group, std::uint64_t bytes, bool gone) {
    find(group >> regionBits)[group & groupMask] += gone ? 0 - bytes : bytes;
}

/// A block that lies in several groups, or in a region other than the current one.
void HeapMap::spread(std::uint64_t address, std::uint64_t size, bool gone) {
    const std::uint64_t last = (address + size - 1) >> shift_;
    if (address >> shift_ >= last) {
        change(address >> shift_, size, gone);
        size = 0;
    }
    while (size != 0) {
        const std::uint64_t group = address >> shift_;
        const std::uint64_t part = std::min(size, ((group + 1) << shift_) - address);
        change(group, part, gone);
        address += part;
        size -= part;
    }
    if (regions_.size() > mostRegions) [[unlikely]]
        makeRoom();
}

void HeapMap::forgetAll() {
    regions_.clear();
    places_.assign(64, {});
    recent_.fill({});
}

std::vector<HeapMap::Place> HeapMap::inOrder() const {
    std::vector<Place> order;
    std::copy_if(places_.begin(), places_.end(), std::back_inserter(order),
                 [](const Place& place) { return place.number != nowhere; });
    std::sort(order.begin(), order.end(),
              [](const Place& a, const Place& b) { return a.number < b.number; });
    return order;
}

/// Forgets regions in which nothing is live, and makes groups coarser if too many are left.
void HeapMap::makeRoom() {
    const std::vector<Place> order = inOrder();
    const std::vector<std::unique_ptr<Region>> old = std::move(regions_);
    forgetAll();
    for (const Place& place : order)
        if (std::any_of(place.region->begin(), place.region->end(),
                        [](std::uint64_t live) { return live != 0; }))
            enter(place.number, std::make_unique<Region>(*place.region));
    if (regions_.size() > mostRegions / 4 * 3)
        coarsen();
}

void HeapMap::coarsen() {
    const std::vector<Place> order = inOrder();
    const std::vector<std::unique_ptr<Region>> old = std::move(regions_);
    forgetAll();
    for (const Place& place : order) {
        Region& half = find(place.number / 2);
        const std::size_t first = place.number % 2 * (half.size() / 2);
        for (std::size_t group = 0; group < half.size(); ++group)
            half[first + group / 2] += (*place.region)[group];
    }
    ++shift_;
    for (Column& column : columns_)
        halve(column);
}

void HeapMap::halve(Column& column) {
    Column halved;
    for (const auto& [group, live] : column) {
        if (!halved.empty() && halved.back().first == group / 2)
            halved.back().second += live;
        else
            halved.emplace_back(group / 2, live);
    }
    column = std::move(halved);
}

/// Blocks that no process can have are left out.
void HeapMap::keepLarge(std::uint64_t address, std::uint64_t size) {
    if (address < highest && size < highest)
        large_[address] = size;
}

void HeapMap::smallBlocks(Column& column) const {
    column.clear();
    for (const Place& place : inOrder())
        for (std::size_t group = 0; group < place.region->size(); ++group)
            if (const std::uint64_t live = (*place.region)[group]; live != 0)
                column.emplace_back((place.number << regionBits) + group, live);
}

void HeapMap::largeBlocks(Column& column) const {
    column.clear();
    for (const auto& [start, length] : large_) {
        std::uint64_t address = start;
        for (std::uint64_t left = length; left != 0;) {
            const std::uint64_t group = address >> shift_;
            const std::uint64_t part = std::min(left, ((group + 1) << shift_) - address);
            append(column, group, part);
            address += part;
            left -= part;
        }
    }
    if (!std::is_sorted(column.begin(), column.end())) // blocks that overlap
        std::sort(column.begin(), column.end());
}

HeapMap::Column HeapMap::look() {
    std::uint64_t bytes = 0;
    for (const auto& [address, size] : large_) // a damaged trace may have any number of any size
        bytes = size < UINT64_MAX - bytes ? bytes + size : UINT64_MAX;
    while ((bytes >> shift_) + large_.size() > mostGroups && shift_ < 56)
        coarsen();
    smallBlocks(small_);
    while (small_.size() > mostGroups) {
        coarsen();
        smallBlocks(small_);
    }
    largeBlocks(ofLarge_);
    Column summed;
    summed.reserve(small_.size() + ofLarge_.size());
    auto other = ofLarge_.begin();
    for (const auto& [group, live] : small_) {
        for (; other != ofLarge_.end() && other->first < group; ++other)
            append(summed, other->first, other->second);
        append(summed, group, live);
    }
    for (; other != ofLarge_.end(); ++other)
        append(summed, other->first, other->second);
    return summed;
}

void HeapMap::step(std::uint64_t time) {
    while (time >= end_) {
        if (columns_.size() == mostColumns) {
            fold();
            continue;
        }
        columns_.push_back(look());
        end_ += step_;
    }
}

void HeapMap::fold() {
    for (std::size_t at = 1; at < columns_.size(); at += 2)
        columns_[at / 2] = std::move(columns_[at]);
    columns_.resize(columns_.size() / 2);
    step_ *= 2;
    end_ = step_ * (columns_.size() + 1);
}

void HeapMap::finish(std::uint64_t time) {
    columns_.push_back(look());
    lastTime_ = time;
}

std::vector<std::uint64_t> HeapMap::everUsed() const {
    std::vector<std::uint64_t> used;
    std::vector<std::uint64_t> more;
    std::vector<std::uint64_t> both;
    for (const Column& column : columns_) {
        more.clear();
        for (const auto& [group, live] : column)
            more.push_back(group);
        both.clear();
        std::set_union(used.begin(), used.end(), more.begin(), more.end(),
                       std::back_inserter(both));
        used.swap(both);
    }
    return used;
}

/// The finest rows that are not too many: ranges of one length that hold all that was ever used.
HeapMap::Rows HeapMap::rows() const {
    const std::vector<std::uint64_t> used = everUsed();
    Rows rows{1, used};
    while (rows.first.size() > mostRows) {
        rows.groups *= 2;
        rows.first.clear();
        for (const std::uint64_t group : used) {
            const std::uint64_t first = group - group % rows.groups;
            if (rows.first.empty() || rows.first.back() != first)
                rows.first.push_back(first);
        }
    }
    return rows;
}

void HeapMap::write(Json& json) const {
    const Rows layout = rows();
    const std::uint64_t bytes = layout.groups << shift_;
    json.beginObject().field("process", process_).key("times_s").beginArray();
    for (std::size_t column = 0; column < columns_.size(); ++column)
        json.seconds(column + 1 == columns_.size() ? lastTime_ : (column + 1) * step_);
    json.endArray().key("rows").beginArray();
    for (const std::uint64_t first : layout.first)
        json.beginObject().field("start", first << shift_).field("bytes", bytes).endObject();
    json.endArray().key("cells").beginArray();
    for (const std::uint64_t first : layout.first) {
        json.beginArray();
        for (const Column& column : columns_) {
            std::uint64_t live = 0;
            auto at =
                std::lower_bound(column.begin(), column.end(), std::pair{first, std::uint64_t{0}});
            for (; at != column.end() && at->first < first + layout.groups; ++at)
                live += at->second;
            const double part = std::min(1.0, share(live, bytes));
            json.value(static_cast<double>(static_cast<int>(part * 1000 + 0.5)) / 1000);
        }
        json.endArray();
    }
    json.endArray().endObject();
}

} // namespace heapwright::profiler
