// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A list in a reap, which the headers provide, in a program whose malloc is granary.
#include <heapwright/allocators/arenas.hpp>
#include <heapwright/c/granary.h>

#include <cstdio>
#include <list>
#include <memory_resource>
#include <string>

int main() {
    heapwright::Reap request;
    std::pmr::list<std::pmr::string> lines(&request);
    lines.emplace_back("a line that lives as long as its request");
    std::printf("lines: %zu\n", lines.size());
    std::printf("malloc: %s\n", heapwright_granary_get != nullptr ? "granary" : "another");
}
