// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A node's number is larger than its parent's. One pass from the back therefore sums up outward,
// and the tree is written with parents first.
#include "profiler/call_tree.hpp"

#include <algorithm>

namespace heapwright::profiler {

void CallTree::Sums::add(const Sums& other) {
    allocations += other.allocations;
    bytes += other.bytes;
    neverFreed += other.neverFreed;
    neverFreedBytes += other.neverFreedBytes;
    blocksAtPeak += other.blocksAtPeak;
    atPeak += other.atPeak;
    temporary += other.temporary;
}

CallTree::CallTree(const trace::StackTable& table, const std::vector<Site>& sites) : table_(table) {
    for (const trace::StackTable::Object& object : table.objects())
        ours_.push_back(object.path.find("/libheapwright-", object.path.find_last_of('/')) !=
                        std::string::npos);
    nodes_.push_back({0, {}, false, {}});
    for (const Site& site : sites) {
        const std::uint32_t node = site.stack != 0 ? nodeOf(site.process, site.stack) : 0;
        nodes_[node].sums.add({site.allocations, site.bytes, site.neverFreed, site.neverFreedBytes,
                               site.blocksAtPeak, site.atPeak, site.temporary});
    }
    for (std::size_t i = nodes_.size() - 1; i > 0; --i)
        nodes_[nodes_[i].parent].sums.add(nodes_[i].sums);
    choose();
}

bool CallTree::isOurs(const trace::StackTable::Place& place) const {
    return place.object < ours_.size() && ours_[place.object];
}

/// The node of a chain; made, with all that is outside of it, when it is new.
std::uint32_t CallTree::nodeOf(std::uint32_t process, std::uint32_t stack) {
    std::vector<std::pair<std::uint32_t, trace::StackTable::Call>> inner;
    std::uint32_t node = 0;
    trace::StackTable::Call call;
    for (std::uint32_t at = stack; at != 0; at = call.parent) {
        const auto known = known_.find(std::uint64_t{process} << 32 | at);
        if (known != known_.end()) {
            node = known->second;
            break;
        }
        if (!table_.find(process, at, call))
            break; // the trace is damaged there: what is known of the chain hangs from the root
        if (!isOurs(call.place)) // what is preloaded to record is no part of the program
            inner.emplace_back(at, call);
    }
    for (auto i = inner.rbegin(); i != inner.rend(); ++i) {
        node = childOf(node, i->second);
        known_.emplace(std::uint64_t{process} << 32 | i->first, node);
    }
    return node;
}

std::uint32_t CallTree::childOf(std::uint32_t parent, const trace::StackTable::Call& call) {
    const trace::StackTable::Place place = call.place;
    std::uint64_t hash = (place.address ^ parent) * 0x9E37'79B9'7F4A'7C15;
    hash = (hash ^ place.object ^ hash >> 32 ^ (call.cut ? 1U : 0U)) * 0xC2B2'AE3D'27D4'EB4F;
    std::vector<std::uint32_t>& alike = children_[hash ^ parent];
    for (const std::uint32_t child : alike) {
        const Node& node = nodes_[child];
        if (node.parent == parent && node.place.object == place.object &&
            node.place.address == place.address && node.cut == call.cut)
            return child;
    }
    const auto made = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({parent, place, call.cut, {}});
    alike.push_back(made);
    return made;
}

/// Marks the nodes that make at least 1 / `parts` of any sum. Returns the number of these nodes.
std::size_t CallTree::mark(std::uint64_t parts, std::vector<bool>& chosen) const {
    const Sums& all = nodes_[0].sums;
    const auto seen = [parts](std::uint64_t part, std::uint64_t whole) {
        return part > whole / parts;
    };
    std::size_t count = 0;
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
        const Sums& sums = nodes_[i].sums;
        chosen[i] = seen(sums.bytes, all.bytes) || seen(sums.allocations, all.allocations) ||
                    seen(sums.neverFreedBytes, all.neverFreedBytes) ||
                    seen(sums.atPeak, all.atPeak);
        count += chosen[i] ? 1U : 0U;
    }
    return count;
}

void CallTree::choose() {
    std::vector<bool> chosen(nodes_.size());
    std::uint64_t parts = 4000;
    while (mark(parts, chosen) > mostNodes && parts > 1)
        parts /= 2;
    numbers_.assign(nodes_.size(), 0);
    written_.push_back(0);
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
        if (chosen[i])
            number(i);
    }
}

/// The number that a node is written with; its parents are numbered before it.
std::uint32_t CallTree::number(std::uint32_t node) {
    std::vector<std::uint32_t> path;
    for (; node != 0 && numbers_[node] == 0; node = nodes_[node].parent)
        path.push_back(node);
    std::uint32_t last = numbers_[node];
    for (auto i = path.rbegin(); i != path.rend(); ++i) {
        last = static_cast<std::uint32_t>(written_.size());
        numbers_[*i] = last;
        written_.push_back(*i);
    }
    return last;
}

std::uint32_t CallTree::pin(const Site& site) {
    return site.stack != 0 ? number(nodeOf(site.process, site.stack)) : 0;
}

void CallTree::write(Json& json) const {
    json.beginObject().key("objects").beginArray();
    for (const trace::StackTable::Object& object : table_.objects())
        json.beginObject()
            .field("path", object.path)
            .field("build_id", object.buildId)
            .field("function", object.function)
            .endObject();
    json.endArray().key("nodes").beginArray();
    const auto objects = static_cast<std::uint32_t>(table_.objects().size());
    for (const std::uint32_t i : written_) {
        const Node& node = nodes_[i];
        const std::uint32_t object = node.cut ? objects + 1 : std::min(node.place.object, objects);
        json.beginArray().value(numbers_[node.parent]).value(object).value(node.place.address);
        json.value(node.sums.allocations).value(node.sums.bytes).value(node.sums.neverFreed);
        json.value(node.sums.neverFreedBytes);
        json.value(node.sums.blocksAtPeak).value(node.sums.atPeak);
        json.value(node.sums.temporary).endArray();
    }
    json.endArray().endObject();
}

} // namespace heapwright::profiler
