// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads and what passes between them.
#include "profiler/threads.hpp"

#include <algorithm>

namespace heapwright::profiler {

void Threads::handedOver(std::uint32_t from, std::uint32_t to, bool byRealloc) {
    ++counts_[from].freedElsewhere;
    ++counts_[to].freedOfOthers;
    ++handedOver_;
    byRealloc_ += byRealloc;
    const std::uint64_t pair = (std::uint64_t{from} << 32) | to;
    if (const auto found = pairs_.find(pair); found != pairs_.end())
        ++found->second;
    else if (pairs_.size() < mostPairs)
        pairs_.emplace(pair, 1);
}

void Threads::write(Json& json) const {
    json.beginArray();
    for (std::size_t thread = 0; thread < counts_.size(); ++thread) {
        const ThreadCounts& counts = counts_[thread];
        if (counts.first == UINT64_MAX)
            continue;
        json.beginObject().field("thread", std::uint64_t{thread}).field("process", counts.process);
        json.field("allocations", counts.allocations).field("bytes", counts.bytes);
        json.field("frees", counts.frees).field("freed_elsewhere", counts.freedElsewhere);
        json.field("freed_of_others", counts.freedOfOthers);
        json.secondsField("started_s", counts.first).secondsField("ended_s", counts.last);
        json.endObject();
    }
    json.endArray();
}

void Threads::writePairs(Json& json, std::uint64_t ended) const {
    using Pair = std::pair<std::uint64_t, std::uint64_t>;
    std::vector<Pair> pairs(pairs_.begin(), pairs_.end());
    std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    pairs.resize(std::min(pairs.size(), mostWritten));
    json.beginObject().field("count", handedOver_).field("share", share(handedOver_, ended));
    json.field("by_realloc", byRealloc_).key("pairs").beginArray();
    std::uint64_t written = 0;
    for (const auto& [pair, count] : pairs) {
        json.beginArray().value(pair >> 32).value(pair & 0xFFFF'FFFF).value(count).endArray();
        written += count;
    }
    json.endArray().field("omitted", handedOver_ - written).endObject();
}

} // namespace heapwright::profiler
