// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel is asked for over some time: objects of caches, objects of any size, blocks of
// pages, on several processors. It comes from a kernel trace (kernel_trace.hpp) or is drawn from a
// load (drawing.hpp), and each model is given the same.
//
// What is taken has a place, a small number that is free again once it has been given back.
// Invariants of traffic that comes from either: no place is taken twice at a time, none is given
// that is not taken, caches are declared and, once destroyed, asked for no more, processors are
// below their number, times never go back.
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

/// A cache as a subsystem has it made.
struct CacheKind {
    std::string name;
    std::size_t size = 0;
    std::size_t align = 8;
    bool constructed = false; ///< it has a constructor
    bool reclaimable = false; ///< what is in it can be dropped and made anew
};

struct Event {
    enum class Verb : std::uint8_t {
        take,    ///< an object of the cache `what`
        general, ///< an object of `what` bytes
        pages,   ///< a block of pages
        give,    ///< whatever is at the place
        shrink,  ///< the cache `what`, or all
        reclaim, ///< `what` pages' worth of what can be dropped, and all caches are shrunk
        mark,    ///< `what` is the number of a mark
    };

    std::uint64_t time = 0; ///< nanoseconds from the start
    std::uint32_t place = 0;
    std::uint32_t what = 0;
    Verb verb = Verb::give;
    std::uint8_t processor = 0;
    std::uint8_t order = 0;
    std::uint8_t mobility = 0; ///< as heapwright::Mobility
    bool droppable = false;    ///< lives until memory is needed; nobody gives it

    static constexpr std::uint32_t allCaches = UINT32_MAX;

    friend bool operator==(const Event&, const Event&) = default;
};

/// What the kernel of a trace had at a time.
struct Mark {
    std::uint64_t time = 0;
    std::uint64_t slabPages = 0;
    std::uint64_t fallbacks = 0;

    friend bool operator==(const Mark&, const Mark&) = default;
};

struct Traffic {
    std::string kernel; ///< where it was recorded; empty of what was drawn
    std::size_t processors = 1;
    std::uint64_t memory = 128;  ///< MiB of the machine
    std::uint64_t freePages = 0; ///< so many of it are free at the start; 0: all
    std::vector<CacheKind> caches;
    std::vector<Mark> marks;
    std::vector<Event> events;
    std::size_t places = 0;  ///< all places are below it
    std::size_t prelude = 0; ///< so many first events are what was there before the time is taken
};

} // namespace heapwright::kernelsim
