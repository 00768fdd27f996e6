// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The live bytes of every site at even moments of the run: which sites grow, and when they do.
//
// Cost: one pass over the sites at each moment. Memory: 16 bytes for each site with live blocks and
// each moment. There are fewer moments where many sites have live blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/json.hpp"
#include "profiler/site.hpp"

namespace heapwright::profiler {

class SiteCourse {
public:
    /// `duration` in ns need not be right: moments are dropped when there are too many.
    explicit SiteCourse(std::uint64_t duration);
    /// A course without moments, for traces without stacks.
    SiteCourse() = default;

    /// When the next moment is, in ns.
    std::uint64_t next() const { return next_; }

    /// Before the event at `time` is applied.
    void advance(std::uint64_t time, std::vector<Site>& sites) {
        if (time >= next_) [[unlikely]]
            take(time, sites);
    }
    /// After the last event.
    void finish(std::uint64_t time, std::vector<Site>& sites);

    /// The array of moments.
    void writeTimes(Json& json) const;
    /// The array of a site's live bytes, one for each moment; empty if all are 0.
    void write(Json& json, std::uint32_t site) const;

private:
    static constexpr std::size_t mostMoments = 240; ///< even, so that every second one can be kept
    static constexpr std::size_t plannedMoments = 220;
    /// Fewer moments if there are more entries; none below the last.
    static constexpr std::size_t someEntries = 128 << 10;
    static constexpr std::size_t someMoments = 96;
    static constexpr std::size_t mostEntries = 4 << 20;
    static constexpr std::size_t fewestMoments = 12;

    struct Live {
        std::uint32_t site;
        std::uint64_t bytes;
    };
    struct Moment {
        std::uint64_t time;
        std::vector<Live> live; ///< by ascending site, without those that have none
    };

    void take(std::uint64_t time, std::vector<Site>& sites);
    void note(std::uint64_t time, std::vector<Site>& sites);
    bool isFull() const;
    void fold();
    static std::uint64_t bytesOf(const Moment& moment, std::uint32_t site);

    static constexpr std::uint64_t never = ~std::uint64_t{0};

    std::uint64_t step_ = never;
    std::uint64_t next_ = never;
    std::size_t entries_ = 0;
    std::vector<Moment> moments_;
};

} // namespace heapwright::profiler
