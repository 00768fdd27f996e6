// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What came of running a model over traffic, and which models there are.
#pragma once

#include "kernelsim/traffic.hpp"

#include <heapwright/structure/kernel/page_section.hpp>
#include <heapwright/structure/kernel/page_zone.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace heapwright::kernelsim {

/// A moment of a run.
struct Sample {
    std::uint64_t time = 0; ///< the machine's
    std::uint64_t slabPages = 0;
    std::uint64_t otherPages = 0;
    std::uint64_t freePages = 0;
    std::uint64_t liveBytes = 0; ///< of objects, as they were asked for
    std::uint64_t fallbacks = 0;
    std::uint64_t unusable = 0; ///< thousandths of the free memory that no group of pages can use
    std::optional<Mark> recorded;

    friend bool operator==(const Sample&, const Sample&) = default;
};

/// A line of the table of caches.
struct CacheLine {
    std::string name;
    std::uint64_t size = 0;
    std::uint64_t stride = 0;
    std::uint64_t live = 0;
    std::uint64_t objects = 0;
    std::uint64_t slabs = 0;
    std::uint64_t pages = 0;
    std::uint64_t remoteFrees = 0;

    friend bool operator==(const CacheLine&, const CacheLine&) = default;
};

struct Outcome {
    std::uint64_t nanoseconds = 0; ///< processor time of all calls, but for the prelude
    std::uint64_t takes = 0;       ///< objects
    std::uint64_t gives = 0;
    std::uint64_t remoteGives = 0; ///< on another processor than they were taken on
    std::uint64_t blockTakes = 0;  ///< blocks of pages, not the allocator's
    std::uint64_t refused = 0;     ///< requests for which there was no memory
    std::uint64_t dropped = 0;     ///< what was freed because memory was needed
    std::uint64_t meanSlabPages = 0;
    std::uint64_t mostSlabPages = 0;
    std::uint64_t endSlabPages = 0;
    std::uint64_t keptPages = 0;  ///< when everything has been freed, and nothing shrunk
    std::uint64_t cachePages = 0; ///< that the caches' own descriptors take, counted in none above
    std::uint64_t slabsTaken = 0; ///< how often the allocator asked for pages
    std::uint64_t slabsGiven = 0;
    PageFallbacks fallbacks;
    std::array<int, pageOrders> unusable{};      ///< by order, at the end
    std::array<int, pageOrders> fragmentation{}; ///< likewise
    std::vector<CacheLine> caches;               ///< at the end
    std::vector<Sample> samples;
};

/// Whether two runs did the same, however long they took.
bool sameButForTime(const Outcome& one, const Outcome& other);

/// A model did what none may: it gave out what was live, lost what was constructed, kept pages.
class ModelFault : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

inline constexpr std::array<std::string_view, 4> modelNames = {"slab", "slob", "slub", "slqb"};

/// Pre: the name is one of the four. About so many samples; throws ModelFault.
Outcome runModel(std::string_view name, const Traffic& traffic, std::size_t samples);

} // namespace heapwright::kernelsim
