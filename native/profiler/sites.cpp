// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Sites, in the order of their requested bytes, the largest first.
#include "profiler/sites.hpp"

#include <algorithm>
#include <iterator>

#include "profiler/call_tree.hpp"

namespace heapwright::profiler {

std::uint32_t Sites::find(std::uint64_t key) {
    const auto process = static_cast<std::uint32_t>(key >> 32);
    const auto stack = static_cast<std::uint32_t>(key);
    const std::uint32_t first = stacks_ != nullptr ? stacks_->firstAlike(process, stack) : stack;
    const auto next = static_cast<std::uint32_t>(sites_.size());
    const auto [found, isNew] = numbers_.try_emplace(std::uint64_t{process} << 32 | first, next);
    if (isNew) {
        sites_.emplace_back();
        sites_.back().process = process;
        sites_.back().stack = first;
    }
    recent_[(stack ^ process << 6) % recent_.size()] = {key, found->second};
    return found->second;
}

std::vector<Site> Sites::chosen(bool every) const {
    std::vector<Site> sites;
    if (sites_.size() > 1) // without any stack there are no sites
        std::copy_if(sites_.begin(), sites_.end(), std::back_inserter(sites),
                     [](const Site& site) { return site.allocations != 0; });
    const auto byBytes = [](const Site& a, const Site& b) { return a.bytes > b.bytes; };
    if (!every && sites.size() > 2 * listed) {
        const auto rest = sites.begin() + listed;
        std::nth_element(sites.begin(), rest, sites.end(), byBytes);
        std::nth_element(rest, rest + listed, sites.end(), [](const Site& a, const Site& b) {
            const auto most = [](const Site& site) {
                return std::max({site.neverFreedBytes, site.mostLive, site.atPeak});
            };
            return most(a) > most(b);
        });
        sites.resize(2 * listed);
    }
    std::stable_sort(sites.begin(), sites.end(), byBytes);
    return sites;
}

std::uint32_t Sites::numberOf(const Site& site) const {
    const auto found = numbers_.find(std::uint64_t{site.process} << 32 | site.stack);
    return found == numbers_.end() ? 0 : found->second;
}

void Sites::write(Json& json, const trace::StackTable& stacks, bool every) const {
    const std::vector<Site> sites = chosen(every);
    json.key("sites").beginArray();
    CallTree tree(stacks, sites_);
    for (const Site& site : sites) {
        json.beginObject().field("process", site.process).field("stack", site.stack);
        json.field("call", tree.pin(site));
        json.field("allocations", site.allocations).field("bytes", site.bytes);
        json.field("short", site.shortLived).field("never_freed", site.neverFreed);
        json.field("never_freed_bytes", site.neverFreedBytes);
        json.field("at_peak", site.blocksAtPeak).field("at_peak_bytes", site.atPeak);
        json.key("live_over_time");
        course_.write(json, numberOf(site));
        json.endObject();
    }
    json.endArray().key("site_times_s");
    course_.writeTimes(json);
    json.key("calls");
    sites.empty() ? static_cast<void>(json.null()) : tree.write(json);
}

} // namespace heapwright::profiler
