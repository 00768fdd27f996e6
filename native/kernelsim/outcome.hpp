// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The outcome of a model's run over traffic, and the list of models.
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

/// The state at one moment of a run.
struct Sample {
    std::uint64_t time = 0; ///< the machine's time
    std::uint64_t slabPages = 0;
    std::uint64_t otherPages = 0;
    std::uint64_t freePages = 0;
    std::uint64_t liveBytes = 0; ///< requested bytes of live objects
    std::uint64_t fallbacks = 0;
    /// Share of the free memory, in thousandths, that cannot form a group of pages.
    std::uint64_t unusable = 0;
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

/// Virtual instructions that stand for one movement of a cache line.
inline constexpr std::uint64_t instructionsOfTransfer = 50;

/// What the processors did after the prelude (observer.hpp).
struct Counts {
    using ByProcessor = std::array<std::uint64_t, mostProcessors>;

    ByProcessor instructions{};
    ByProcessor transfers{};         ///< lines that moved there from another processor
    std::uint64_t userTransfers = 0; ///< first lines of objects that moved for their users
    std::uint64_t invalidations = 0; ///< writes that invalidated copies of other processors
    std::uint64_t ownLockTakes = 0;  ///< of locks of one processor; no lock in a kernel
    std::uint64_t lockTakes = 0;     ///< of all other locks
    std::uint64_t handOvers = 0;     ///< part of `lockTakes` after another processor
    std::uint64_t underOneLock = 0;  ///< most instructions under one lock
    /// The least possible time: the work of the busiest processor, or the work under the busiest
    /// lock if that is more.
    std::uint64_t path = 0;
    std::uint64_t time = 0; ///< the same with the transfers

    friend bool operator==(const Counts&, const Counts&) = default;
};

struct Outcome {
    std::uint64_t nanoseconds = 0; ///< processor time of all calls after the prelude
    std::uint64_t takes = 0;       ///< number of objects
    std::uint64_t gives = 0;
    /// Number of objects freed on another processor than they were allocated on.
    std::uint64_t remoteGives = 0;
    std::uint64_t blockTakes = 0; ///< blocks of pages outside the allocator
    std::uint64_t refused = 0;    ///< requests that failed for lack of memory
    std::uint64_t dropped = 0;    ///< objects dropped because memory was needed
    std::uint64_t meanSlabPages = 0;
    std::uint64_t mostSlabPages = 0;
    std::uint64_t endSlabPages = 0;
    std::uint64_t keptPages = 0;  ///< pages held after all objects were freed, without shrinking
    std::uint64_t cachePages = 0; ///< pages of the caches' own descriptors, not counted above
    std::uint64_t slabsTaken = 0; ///< number of requests of the allocator for pages
    std::uint64_t slabsGiven = 0;
    PageFallbacks fallbacks;
    std::array<int, pageOrders> unusable{};      ///< by order, at the end
    std::array<int, pageOrders> fragmentation{}; ///< by order, at the end
    /// Means over the samples, in thousandths: the share of free memory that is unusable by order,
    /// and the requested bytes over the slab memory.
    std::array<std::uint64_t, pageOrders> meanUnusable{};
    std::uint64_t meanFilled = 0;
    std::optional<Counts> counts;  ///< in an observed build
    std::vector<CacheLine> caches; ///< at the end
    std::vector<Sample> samples;
};

/// Whether two runs are equal except for their time.
bool sameButForTime(const Outcome& one, const Outcome& other);

/// An error of a model: it returned a live object, lost constructed contents, or kept pages.
class ModelFault : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

inline constexpr std::array<std::string_view, 4> modelNames = {"slab", "slob", "slub", "slqb"};

/// Runs a model and takes about `samples` samples.
/// Pre: the name is one of the four models. Throws ModelFault.
Outcome runModel(std::string_view name, const Traffic& traffic, std::size_t samples);

} // namespace heapwright::kernelsim
