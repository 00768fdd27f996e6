// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The tree of calls that led to allocations, with the requests of each call by itself and through
// its callees. It is the data of a flame graph. Chains of all processes are merged by the places of
// their calls. The tree is made once from the sites, after the pass. Nodes too small to be visible
// are omitted, but the sums include them. Calls inside the libraries libheapwright-*.so are
// omitted.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profiler/json.hpp"
#include "profiler/site.hpp"
#include "trace/stack_table.hpp"

namespace heapwright::profiler {

class CallTree {
public:
    CallTree(const trace::StackTable& table, const std::vector<Site>& sites);

    /// Keeps the calls that lead to a site, and says its number in the tree as written.
    std::uint32_t pin(const Site& site);

    void write(Json& json) const;

private:
    static constexpr std::size_t mostNodes = 20000; ///< that are written

    struct Sums {
        std::uint64_t allocations = 0;
        std::uint64_t bytes = 0;
        std::uint64_t neverFreed = 0;
        std::uint64_t neverFreedBytes = 0;
        std::uint64_t blocksAtPeak = 0;
        std::uint64_t atPeak = 0;
        std::uint64_t temporary = 0;

        void add(const Sums& other);
    };
    struct Node {
        std::uint32_t parent; ///< a smaller number; 0 is the root
        trace::StackTable::Place place;
        bool cut;
        Sums sums;
    };

    bool isOurs(const trace::StackTable::Place& place) const;
    std::uint32_t nodeOf(std::uint32_t process, std::uint32_t stack);
    std::uint32_t childOf(std::uint32_t parent, const trace::StackTable::Call& call);
    void choose();
    std::size_t mark(std::uint64_t parts, std::vector<bool>& chosen) const;
    std::uint32_t number(std::uint32_t node);

    const trace::StackTable& table_;
    std::vector<bool> ours_; ///< by object: it is one of the libraries that are preloaded
    std::vector<Node> nodes_;
    std::unordered_map<std::uint64_t, std::uint32_t> known_; ///< by process and number in the trace
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> children_; ///< by hash
    std::vector<std::uint32_t> numbers_; ///< as written; 0 of what is not (and of the root)
    std::vector<std::uint32_t> written_;
};

} // namespace heapwright::profiler
