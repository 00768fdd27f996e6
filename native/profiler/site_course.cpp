// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/site_course.hpp"

#include <algorithm>

namespace heapwright::profiler {

SiteCourse::SiteCourse(std::uint64_t duration)
    : step_(std::max<std::uint64_t>(1000, duration / plannedMoments + 1)), next_(step_) {}

/// Of a long silence there is a moment for each step: the steps stay even.
void SiteCourse::take(std::uint64_t time, std::vector<Site>& sites) {
    while (time >= next_) {
        if (isFull()) {
            fold();
            continue;
        }
        note(next_, sites);
        next_ += step_;
    }
}

bool SiteCourse::isFull() const {
    return moments_.size() == mostMoments ||
           (entries_ > someEntries && moments_.size() > someMoments) ||
           (entries_ > mostEntries && moments_.size() > fewestMoments);
}

void SiteCourse::note(std::uint64_t time, std::vector<Site>& sites) {
    Moment moment{time, {}};
    for (std::uint32_t number = 0; number < sites.size(); ++number) {
        Site& site = sites[number];
        if (site.live == 0)
            continue;
        site.mostLive = std::max(site.mostLive, site.live);
        moment.live.push_back({number, site.live});
    }
    entries_ += moment.live.size();
    moments_.push_back(std::move(moment));
}

/// Every second moment is kept, and the steps become twice as long.
void SiteCourse::fold() {
    entries_ = 0;
    for (std::size_t at = 1; at < moments_.size(); at += 2) {
        entries_ += moments_[at].live.size();
        moments_[at / 2] = std::move(moments_[at]);
    }
    moments_.resize(moments_.size() / 2);
    step_ *= 2;
    next_ = step_ * (moments_.size() + 1);
}

void SiteCourse::finish(std::uint64_t time, std::vector<Site>& sites) {
    if (next_ == never)
        return;
    take(time, sites);
    if (moments_.empty() || moments_.back().time < time)
        note(time, sites);
}

std::uint64_t SiteCourse::bytesOf(const Moment& moment, std::uint32_t site) {
    const auto found =
        std::lower_bound(moment.live.begin(), moment.live.end(), site,
                         [](const Live& each, std::uint32_t wanted) { return each.site < wanted; });
    return found != moment.live.end() && found->site == site ? found->bytes : 0;
}

void SiteCourse::writeTimes(Json& json) const {
    json.beginArray();
    for (const Moment& moment : moments_)
        json.value(static_cast<double>(moment.time) / 1e9);
    json.endArray();
}

void SiteCourse::write(Json& json, std::uint32_t site) const {
    json.beginArray();
    const auto has = [site](const Moment& moment) { return bytesOf(moment, site) != 0; };
    if (std::any_of(moments_.begin(), moments_.end(), has)) {
        for (const Moment& moment : moments_)
            json.value(bytesOf(moment, site));
    }
    json.endArray();
}

} // namespace heapwright::profiler
