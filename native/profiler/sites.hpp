// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The requests of each place of the program, by the number of its call chain.
// Cost: the memory of the distinct chains.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/json.hpp"
#include "profiler/moments.hpp"
#include "profiler/site.hpp"
#include "profiler/site_course.hpp"
#include "trace/stack_table.hpp"

namespace heapwright::profiler {

class Sites {
public:
    /// With `stacks`, chains of calls with the same places are one site. Keeps the pointer.
    explicit Sites(SiteCourse course = {}, const trace::StackTable* stacks = nullptr)
        : course_(std::move(course)), stacks_(stacks) {}

    /// When the next moment of the sites' course is, in ns.
    std::uint64_t next() const { return course_.next(); }
    /// Before the event at `time` is applied.
    void advance(std::uint64_t time) { course_.advance(time, sites_); }
    /// After the last event.
    void finish(std::uint64_t time) {
        course_.finish(time, sites_);
        for (Site& site : sites_)
            site.keepPeak(peaks_);
    }

    /// The number of a site here, for `operator[]`. Without stacks there is one.
    std::uint32_t number(std::uint32_t process, std::uint32_t stack) {
        if (stack == 0)
            return 0;
        const std::uint64_t key = std::uint64_t{process} << 32 | stack;
        const Recent& recent = recent_[(stack ^ process << 6) % recent_.size()];
        return recent.key == key ? recent.number : find(key);
    }
    Site& operator[](std::uint32_t number) { return sites_[number]; }
    /// A site whose live memory is about to change.
    Site& changing(std::uint32_t number) {
        Site& site = sites_[number];
        site.keepPeak(peaks_);
        return site;
    }

    /// More bytes are live than ever before.
    void newPeak() { ++peaks_; }
    std::uint64_t peaks() const { return peaks_; }
    void setPeaks(std::uint64_t peaks) { peaks_ = peaks; }

    const std::vector<Site>& all() const { return sites_; }

    /// The live memory of the sites at the peak. `state` is that of all.
    Moment atPeak(const LiveState& state) const;

    /// The sites with the most requested bytes, and those with the most bytes at the end, at the
    /// peak, or at one of the moments. Each has the number of its call in the tree, and the tree is
    /// written with them. With `every`, all sites.
    void write(Json& json, const trace::StackTable& stacks,
               const std::vector<NamedMoment>& moments = {}, bool every = false) const;

private:
    static constexpr std::size_t listed = 1000; ///< of either

    /// A number that was requested recently.
    struct Recent {
        std::uint64_t key = 0; ///< 0 is none: there is no stack 0
        std::uint32_t number = 0;
    };

    std::vector<std::uint32_t> chosen(const std::vector<NamedMoment>& moments, bool every) const;
    std::vector<std::uint64_t> mostHeld(const std::vector<NamedMoment>& moments) const;
    std::uint32_t find(std::uint64_t key);
    static void write(Json& json, const NamedMoment& named, const std::vector<bool>& isListed);
    static void write(Json& json, const Pins& pins);
    static std::vector<std::vector<Moment::Held>> bySite(const std::vector<NamedMoment>& moments,
                                                         const std::vector<bool>& isListed);
    static void writeMoments(Json& json, std::uint32_t number,
                             const std::vector<Moment::Held>& held,
                             const std::vector<NamedMoment>& moments);

    std::vector<Recent> recent_{1 << 12};
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
    std::vector<Site> sites_{1}; ///< the first: what has no stack
    std::uint64_t peaks_ = 0;
    SiteCourse course_;
    const trace::StackTable* stacks_;
};

} // namespace heapwright::profiler
