// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory for one request at a time. A region serves all objects of the request by moving a pointer,
// and all are freed at once when the request is done. Containers of the standard library use the
// region as a memory resource.
#include <heapwright/adaptor/pmr_resource.hpp>
#include <heapwright/heap.hpp>

#include <iostream>
#include <map>
#include <memory_resource>
#include <sstream>
#include <string>
#include <vector>

using namespace heapwright;
using Region = RegionHeap<8 * KiB, 1 * MiB, MmapHeap>;

namespace {

/// Counts words, with every container in the arena.
std::size_t distinctWords(const std::string& text, std::pmr::memory_resource& arena) {
    std::pmr::map<std::pmr::string, std::pmr::vector<int>> where(&arena);
    std::istringstream words(text);
    std::string word;
    for (int at = 0; words >> word; ++at) {
        where[std::pmr::string(word, &arena)].push_back(at);
    }
    return where.size();
}

std::size_t mapped(Region& region) {
    MemoryUsage usage;
    region.measure(usage);
    return usage.mapped;
}

} // namespace

int main() {
    PmrResource<Region> arena; // the region is in it

    for (const char* const request :
         {"the quick brown fox", "to be or not to be", "a rose is a rose is a rose"}) {
        std::cout << distinctWords(request, arena) << " words in \"" << request << "\"\n";
        arena.heap().clear();
        std::cout << "  left afterwards: " << mapped(arena.heap()) << " bytes\n";
    }

    // Destroying the arena frees all objects that are still alive: here a whole tree without a
    // destructor call.
    {
        PmrResource<Region> scope;
        auto* const tree =
            new (scope.allocate(sizeof(std::pmr::map<int, int>))) std::pmr::map<int, int>(&scope);
        for (int i = 0; i < 10'000; ++i) {
            tree->emplace(i, i * i);
        }
        std::cout << "live when the arena goes: " << tree->size() << " entries\n";
    }
}
