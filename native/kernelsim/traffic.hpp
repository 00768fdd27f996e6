// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The requests of a kernel over some time: objects of caches, objects of any size, blocks of pages,
// on several processors. Traffic comes from a kernel trace (kernel_trace.hpp) or is drawn from a
// load (load.hpp). Each model gets the same.
//
// Each allocation has a place, a small number that is reused after its free.
// Invariant: no place is used twice at a time, and only used places are freed. Caches are declared
// first, and not used after their destruction. Processors are below their number. Times never
// decrease.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heapwright::kernelsim {

inline constexpr std::size_t mostProcessors = 8;
inline constexpr std::size_t mostCaches = 1024;
inline constexpr std::size_t leastObject = 8; ///< bytes
inline constexpr std::size_t mostObject = std::size_t{4} << 20U;
inline constexpr std::uint64_t mostMemory = 65536; ///< MiB
inline constexpr std::uint64_t mostEvents = std::uint64_t{1} << 30U;

/// A cache as a subsystem requests it.
struct CacheKind {
    std::string name;
    std::size_t size = 0;
    std::size_t align = 8;
    bool constructed = false; ///< it has a constructor
    bool reclaimable = false; ///< the contents can be dropped and created again
};

struct Event {
    enum class Verb : std::uint8_t {
        take,    ///< an object of the cache `what`
        general, ///< an object of `what` bytes
        pages,   ///< a block of pages
        give,    ///< frees the allocation at the place
        shrink,  ///< the cache `what`, or all
        reclaim, ///< drops `what` pages of droppable objects, and shrinks all caches
        mark,    ///< `what` is the number of a mark
    };

    std::uint64_t time = 0; ///< nanoseconds from the start
    std::uint32_t place = 0;
    std::uint32_t what = 0;
    Verb verb = Verb::give;
    std::uint8_t processor = 0;
    std::uint8_t order = 0;
    std::uint8_t mobility = 0; ///< as heapwright::Mobility
    bool droppable = false;    ///< lives until memory is needed; no event frees it

    static constexpr std::uint32_t allCaches = UINT32_MAX;

    friend bool operator==(const Event&, const Event&) = default;
};

/// The state of the kernel of a trace at one time.
struct Mark {
    std::uint64_t time = 0;
    std::uint64_t slabPages = 0;
    std::uint64_t fallbacks = 0;

    friend bool operator==(const Mark&, const Mark&) = default;
};

struct Traffic {
    std::string kernel; ///< the kernel of a recorded trace; empty for drawn traffic
    std::size_t processors = 1;
    std::uint64_t memory = 128;  ///< MiB of the machine
    std::uint64_t freePages = 0; ///< free pages at the start; 0: all
    std::vector<CacheKind> caches;
    std::vector<Mark> marks;
    std::vector<Event> events;
    std::size_t places = 0; ///< upper bound of all places
    /// Number of first events that build the initial state and are not timed.
    std::size_t prelude = 0;
};

} // namespace heapwright::kernelsim
