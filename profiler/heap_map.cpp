// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The address space over time. A group's live bytes are taken modulo 2^64, so that the order in
// which a coarser group was put together does not matter.
#include "profiler/heap_map.hpp"

#include <algorithm>

namespace heapwright::profile {

HeapMap::HeapMap(std::uint32_t process, std::uint64_t duration)
    : process_(process), step_(std::max<std::uint64_t>(1000, duration / (mostColumns - 4) + 1)),
      end_(step_), groups_(2 * mostGroups) {}

HeapMap::Group& HeapMap::find(std::uint64_t group) {
    const std::size_t mask = groups_.size() - 1;
    auto at = static_cast<std::size_t>(group * 0x9E37'79B9'7F4A'7C15U >> 40) & mask;
    while (groups_[at].number != group && groups_[at].number != emptyGroup)
        at = (at + 1) & mask;
    return groups_[at];
}

void HeapMap::change(std::uint64_t group, std::uint64_t bytes, bool gone) {
    Group& found = find(group);
    if (found.number == group) [[likely]] {
        found.live += gone ? 0 - bytes : bytes;
        return;
    }
    found = {group, gone ? 0 - bytes : bytes};
    if (++used_ > mostGroups)
        makeRoom();
}

/// A block that lies in several groups.
void HeapMap::spread(std::uint64_t address, std::uint64_t size, bool gone) {
    while (size != 0) {
        const std::uint64_t group = address >> shift_;
        const std::uint64_t part = std::min(size, ((group + 1) << shift_) - address);
        change(group, part, gone);
        address += part;
        size -= part;
    }
}

/// Forgets groups in which nothing is live, or else makes them coarser.
void HeapMap::makeRoom() {
    const auto isEmpty = [](const Group& group) { return group.live == 0; };
    const auto empty = static_cast<std::size_t>(
        std::count_if(groups_.begin(), groups_.end(), [&](const Group& group) {
            return group.number != emptyGroup && isEmpty(group);
        }));
    if (empty < mostGroups / 4) {
        coarsen();
        return;
    }
    const std::vector<Group> old = std::move(groups_);
    rebuild(old, false);
}

void HeapMap::coarsen() {
    do {
        const std::vector<Group> old = std::move(groups_);
        rebuild(old, true);
        ++shift_;
        for (Column& column : columns_)
            halve(column);
    } while (used_ > mostGroups);
}

void HeapMap::rebuild(const std::vector<Group>& old, bool halved) {
    groups_.assign(2 * mostGroups, {});
    used_ = 0;
    for (const Group& group : old) {
        if (group.number == emptyGroup || group.live == 0)
            continue;
        const std::uint64_t number = halved ? group.number / 2 : group.number;
        Group& place = find(number);
        used_ += place.number == emptyGroup;
        place = {number, place.number == emptyGroup ? group.live : place.live + group.live};
    }
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

HeapMap::Column HeapMap::look() {
    std::uint64_t bytes = 0;
    for (const auto& [address, size] : large_)
        bytes += size;
    while ((bytes >> shift_) + large_.size() > mostGroups && shift_ < 56)
        coarsen();
    Column column;
    for (const Group& group : groups_)
        if (group.number != emptyGroup && group.live != 0)
            column.emplace_back(group.number, group.live);
    for (const auto& [start, length] : large_) {
        std::uint64_t address = start;
        for (std::uint64_t left = length; left != 0;) {
            const std::uint64_t group = address >> shift_;
            const std::uint64_t part = std::min(left, ((group + 1) << shift_) - address);
            column.emplace_back(group, part);
            address += part;
            left -= part;
        }
    }
    std::sort(column.begin(), column.end());
    Column summed;
    for (const auto& [group, live] : column) {
        if (!summed.empty() && summed.back().first == group)
            summed.back().second += live;
        else
            summed.emplace_back(group, live);
    }
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
    for (const Column& column : columns_)
        for (const auto& [group, live] : column)
            used.push_back(group);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
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

} // namespace heapwright::profile
