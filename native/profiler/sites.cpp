// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Sites, in the order of their requested bytes, the largest first.
#include "profiler/sites.hpp"

#include <algorithm>
#include <string_view>

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

std::vector<std::uint32_t> Sites::chosen(const std::vector<NamedMoment>& moments,
                                         bool every) const {
    std::vector<std::uint32_t> numbers;
    if (sites_.size() == 1) // without any stack there are no sites
        return numbers;
    for (std::uint32_t number = 0; number < sites_.size(); ++number)
        if (sites_[number].allocations != 0)
            numbers.push_back(number);
    const auto byBytes = [this](std::uint32_t a, std::uint32_t b) {
        return sites_[a].bytes > sites_[b].bytes;
    };
    if (!every && numbers.size() > 2 * listed) {
        const std::vector<std::uint64_t> most = mostHeld(moments);
        const auto rest = numbers.begin() + listed;
        std::nth_element(numbers.begin(), rest, numbers.end(), byBytes);
        std::nth_element(rest, rest + listed, numbers.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return most[a] > most[b]; });
        numbers.resize(2 * listed);
    }
    std::stable_sort(numbers.begin(), numbers.end(), byBytes);
    return numbers;
}

/// Of each site the most bytes that it held, or kept resident, at a moment that is reported.
std::vector<std::uint64_t> Sites::mostHeld(const std::vector<NamedMoment>& moments) const {
    std::vector<std::uint64_t> most;
    for (const Site& site : sites_)
        most.push_back(std::max({site.neverFreedBytes, site.mostLive, site.atPeak}));
    for (const NamedMoment& each : moments) {
        for (const Moment::Held& held : each.moment.held)
            most[held.site] = std::max(most[held.site], held.bytes);
        for (const auto& [site, pins] : each.moment.pins)
            most[site] = std::max(most[site], pins.pinned * PageCensus::pageSize);
    }
    return most;
}

Moment Sites::atPeak(const LiveState& state) const {
    Moment moment{state, {}, {}};
    for (std::uint32_t number = 0; number < sites_.size(); ++number)
        if (sites_[number].blocksAtPeak != 0)
            moment.held.push_back({number, sites_[number].blocksAtPeak, sites_[number].atPeak});
    return moment;
}

/// The sums of a moment, and how much of them is at sites that are not listed.
void Sites::write(Json& json, const NamedMoment& named, const std::vector<bool>& isListed) {
    const auto& [name, moment] = named;
    Moment::Held others{};
    for (const Moment::Held& held : moment.held) {
        if (isListed[held.site])
            continue;
        others.blocks += held.blocks;
        others.bytes += held.bytes;
    }
    if (moment.held.empty()) // without any stack
        others = {0, moment.state.objects, moment.state.bytes};
    json.beginObject().field("name", std::string_view(name));
    json.secondsField("time_s", moment.state.time).field("operation", moment.state.operations);
    json.field("live_bytes", moment.state.bytes).field("live_objects", moment.state.objects);
    json.field("other_bytes", others.bytes).field("other_objects", others.blocks);
    Pins all;
    for (const auto& [site, pins] : moment.pins) {
        all.held += pins.held;
        all.pinned += pins.pinned;
        all.used += pins.used;
    }
    json.key("pins");
    moment.pins.empty() ? static_cast<void>(json.null()) : write(json, all);
    json.endObject();
}

void Sites::write(Json& json, const Pins& pins) {
    json.beginArray().value(pins.held).value(pins.pinned).value(pins.used).endArray();
}

void Sites::write(Json& json, const trace::StackTable& stacks,
                  const std::vector<NamedMoment>& moments, bool every) const {
    const std::vector<std::uint32_t> numbers = chosen(moments, every);
    std::vector<bool> isListed(sites_.size());
    for (const std::uint32_t number : numbers)
        isListed[number] = true;
    const std::vector<std::vector<Moment::Held>> held = bySite(moments, isListed);
    json.key("moments").beginArray();
    for (const NamedMoment& each : moments)
        write(json, each, isListed);
    json.endArray().key("sites").beginArray();
    CallTree tree(stacks, sites_);
    for (const std::uint32_t number : numbers) {
        const Site& site = sites_[number];
        json.beginObject().field("process", site.process).field("stack", site.stack);
        json.field("call", tree.pin(site));
        json.field("allocations", site.allocations).field("bytes", site.bytes);
        json.field("short", site.shortLived).field("temporary", site.temporary);
        json.field("never_freed", site.neverFreed);
        json.field("never_freed_bytes", site.neverFreedBytes);
        json.field("at_peak", site.blocksAtPeak).field("at_peak_bytes", site.atPeak);
        json.key("live_over_time");
        course_.write(json, number);
        writeMoments(json, number, held[number], moments);
        json.endObject();
    }
    json.endArray().key("site_times_s");
    course_.writeTimes(json);
    json.key("calls");
    numbers.empty() ? static_cast<void>(json.null()) : tree.write(json);
}

/// The live memory of each site at each of the moments, for the sites that are listed.
std::vector<std::vector<Moment::Held>> Sites::bySite(const std::vector<NamedMoment>& moments,
                                                     const std::vector<bool>& isListed) {
    std::vector<std::vector<Moment::Held>> sites(isListed.size());
    for (std::size_t at = 0; at < moments.size(); ++at) {
        for (const Moment::Held& held : moments[at].moment.held) {
            if (!isListed[held.site])
                continue;
            sites[held.site].resize(moments.size());
            sites[held.site][at] = held;
        }
    }
    return sites;
}

/// What one site held at each of the moments; empty arrays if it held nothing.
void Sites::writeMoments(Json& json, std::uint32_t number, const std::vector<Moment::Held>& held,
                         const std::vector<NamedMoment>& moments) {
    const auto pins = [&](const NamedMoment& each) { return each.moment.pins.contains(number); };
    json.key("at_moments").beginArray();
    for (const Moment::Held& each : held)
        json.beginArray().value(each.blocks).value(each.bytes).endArray();
    json.endArray().key("pins").beginArray();
    if (std::any_of(moments.begin(), moments.end(), pins)) {
        for (const NamedMoment& each : moments) {
            const auto found = each.moment.pins.find(number);
            write(json, found == each.moment.pins.end() ? Pins{} : found->second);
        }
    }
    json.endArray();
}

} // namespace heapwright::profiler
