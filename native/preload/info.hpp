// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What every library reports of itself, and what it does to its heap besides malloc and free.
//
// glibc_info.hpp has the functions that only the GNU C library declares.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <heapwright/core/describe.hpp>

#include <preload/instance.hpp>

namespace heapwright::preload {

template <class Allocator>
struct HeapInfo {
    [[gnu::cold]] static int trim(std::size_t pad) {
        return instance<Allocator>().trim(pad) ? 1 : 0;
    }
};

/// The text of `heapwright_describe`, made at compile time.
template <class Allocator, class Identity>
class LibraryDescription {
    static constexpr std::array<std::string_view, 7> parts = {"{\"name\":\"",
                                                              Identity::name,
                                                              "\",\"version\":\"",
                                                              Identity::version,
                                                              "\",\"composition\":",
                                                              describe<Allocator>(),
                                                              "}"};

    static constexpr std::size_t length() {
        std::size_t sum = 0;
        for (const std::string_view part : parts) {
            sum += part.size();
        }
        return sum;
    }

    static constexpr auto join() {
        std::array<char, length() + 1> joined{};
        std::size_t end = 0;
        for (const std::string_view part : parts) {
            for (const char c : part) {
                joined[end++] = c;
            }
        }
        return joined;
    }

public:
    static constexpr auto text = join();
};

} // namespace heapwright::preload
