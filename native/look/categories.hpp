// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum of all mappings by what they are. A mapping that has parts of several kinds, such as a
// stack and a large block, is divided by its resident pages.
#pragma once

#include "heap.hpp"
#include "mapped.hpp"
#include "stacks.hpp"

#include <array>
#include <string_view>

namespace heapwright::look {

enum class Category : std::uint8_t {
    heap,      ///< of the main arena
    arenas,    ///< heaps of other arenas, also what is only reserved
    blocks,    ///< blocks with mappings of their own
    anonymous, ///< other private anonymous memory
    stacks,
    code,  ///< executable files, without their writable data
    data,  ///< writable data of executable files
    files, ///< other mapped files
    shared,
    kernel, ///< vdso and the like
    count
};

constexpr std::array<std::string_view, static_cast<std::size_t>(Category::count)> categoryNames = {
    "heap", "arenas", "blocks", "anonymous", "stacks", "code", "data", "files", "shared", "kernel"};

struct Sum {
    std::uint64_t mappings = 0;
    std::uint64_t bytes = 0;
    std::uint64_t resident = 0;
    std::uint64_t swapped = 0;
    std::uint64_t lazyFree = 0;
};

using Categories = std::array<Sum, static_cast<std::size_t>(Category::count)>;

/// Pre: all ranges ascend.
Categories categoriesOf(const Image& image, const Glibc* glibc, const HeapAccount& heap,
                        const std::vector<MappedChunk>& blocks, const std::vector<Stack>& stacks);

/// Writable data of a program or library: mapped from a file with code, or directly behind that.
bool isProgramData(const std::vector<Mapping>& mappings, std::size_t index);

} // namespace heapwright::look
