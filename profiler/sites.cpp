// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Sites, those that asked for most bytes first.
#include "profiler/sites.hpp"

#include <algorithm>

namespace heapwright::profile {

std::uint32_t Sites::number(std::uint32_t process, std::uint32_t stack) {
    if (stack == 0)
        return 0;
    const auto next = static_cast<std::uint32_t>(sites_.size());
    const auto [found, isNew] = numbers_.try_emplace((std::uint64_t{process} << 32) | stack, next);
    if (isNew) {
        sites_.emplace_back();
        sites_.back().process = process;
        sites_.back().stack = stack;
    }
    return found->second;
}

void Sites::write(Json& json) const {
    std::vector<Site> sites;
    if (sites_.size() > 1) // without any stack there are no sites
        std::copy_if(sites_.begin(), sites_.end(), std::back_inserter(sites),
                     [](const Site& site) { return site.allocations != 0; });
    std::stable_sort(sites.begin(), sites.end(),
                     [](const Site& a, const Site& b) { return a.bytes > b.bytes; });
    json.beginArray();
    for (const Site& site : sites) {
        json.beginObject().field("process", site.process).field("stack", site.stack);
        json.field("allocations", site.allocations).field("bytes", site.bytes);
        json.field("short", site.shortLived).field("never_freed", site.neverFreed);
        json.field("never_freed_bytes", site.neverFreedBytes).endObject();
    }
    json.endArray();
}

} // namespace heapwright::profile
