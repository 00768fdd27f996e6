// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether an address is in the code of the C library or of its loader. Both are loaded before any
// program runs, so the addresses are collected once, at the start of this library.
// Cost: a loop over a few address ranges.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <link.h>
#include <string_view>

#include <heapwright/core/address.hpp>

namespace heapwright::preload {

class CLibraryCode {
public:
    /// Pre: no other thread runs.
    static void collect() noexcept {
        count_ = 0;
        ::dl_iterate_phdr(&add, nullptr);
    }

    /// Whether the C library was found.
    [[nodiscard]] static bool isKnown() noexcept { return count_ != 0; }

    [[nodiscard]] static bool contains(Address instruction) noexcept {
        return std::any_of(
            parts_.begin(), parts_.begin() + count_,
            [instruction](const Part& part) { return instruction - part.start < part.bytes; });
    }

private:
    struct Part {
        Address start;
        std::size_t bytes;
    };

    static int add(dl_phdr_info* object, std::size_t /*bytes*/, void* /*nothing*/) {
        const bool wanted = object->dlpi_name != nullptr && isKnownName(object->dlpi_name);
        for (std::size_t i = 0; wanted && i < object->dlpi_phnum; ++i) {
            const ElfW(Phdr)& part = object->dlpi_phdr[i];
            if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 &&
                count_ < static_cast<std::ptrdiff_t>(parts_.size())) {
                parts_[static_cast<std::size_t>(count_)] = {object->dlpi_addr + part.p_vaddr,
                                                            part.p_memsz};
                ++count_;
            }
        }
        return 0;
    }

    /// Whether the last part of a path begins with one of the names. strlen and memcmp would touch
    /// cold pages of the C library.
    static bool isKnownName(const char* path) noexcept {
        const char* name = path;
        for (const char* at = path; *at != '\0'; ++at) {
            name = *at == '/' ? at + 1 : name;
        }
        return std::any_of(names.begin(), names.end(), [name](std::string_view each) {
            std::size_t same = 0;
            while (same < each.size() && name[same] == each[same]) {
                ++same;
            }
            return same == each.size();
        });
    }

    static constexpr std::array<std::string_view, 4> names = {"libc.", "libc-", "libpthread",
                                                              "ld-"};
    static inline constinit std::array<Part, 8> parts_{};
    static inline constinit std::ptrdiff_t count_ = 0;
};

} // namespace heapwright::preload
