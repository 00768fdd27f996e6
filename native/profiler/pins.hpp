// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The pages that the live blocks of each site keep in use, at one moment. A page is *held* by a
// site if only blocks of this site are on it: without them the page would be empty. A held page is
// *pinned* if at most a quarter of it is in use.
//
// Cost: a sort of the live blocks. Memory: 24 bytes for each, and for each end of a larger block.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "profiler/live_blocks.hpp"

namespace heapwright::profiler {

/// The pages of one site.
struct Pins {
    std::uint64_t held = 0;   ///< pages
    std::uint64_t pinned = 0; ///< of these, with little in use
    std::uint64_t used = 0;   ///< bytes in use on the pinned pages
};

class PageCensus {
public:
    static constexpr std::uint64_t pageSize = 4096;
    static constexpr std::uint64_t mostUsed = pageSize / 4; ///< bytes of a pinned page

    /// Pre: no two blocks of a process overlap.
    void add(std::uint32_t process, const Block& block);
    /// The pages by site; sites without any are not in it.
    std::map<std::uint32_t, Pins> count();

private:
    /// What one block uses of a page that it may share.
    struct Use {
        std::uint64_t page;
        std::uint32_t process;
        std::uint32_t site;
        std::uint32_t bytes;
    };

    void use(std::uint64_t page, std::uint32_t process, std::uint32_t site, std::uint64_t bytes);

    std::vector<Use> uses_;
    std::map<std::uint32_t, Pins> sites_;
};

} // namespace heapwright::profiler
