// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The file and the offset in it of an address of code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapwright::drag {

class Modules {
public:
    static constexpr std::size_t none = ~std::size_t{0};

    /// Adds code at [begin, end) of a file whose own address 0 is at `bias`. It replaces earlier
    /// entries.
    void add(std::uint64_t begin, std::uint64_t end, std::uint64_t bias, std::string_view path) {
        std::erase_if(segments_,
                      [&](const Segment& each) { return each.begin < end && begin < each.end; });
        auto found = std::find(paths_.begin(), paths_.end(), path);
        if (found == paths_.end()) {
            found = paths_.emplace(found, path);
        }
        const auto number = static_cast<std::size_t>(found - paths_.begin());
        segments_.push_back({begin, end, bias, number});
    }

    struct Place {
        std::size_t module; ///< an index in `paths`, or `none`
        std::uint64_t address;
    };
    Place placeOf(std::uint64_t address) const {
        for (const Segment& each : segments_) {
            if (address - each.begin < each.end - each.begin) {
                return {each.module, address - each.bias};
            }
        }
        return {none, address};
    }

    /// The range of code around an address. Changes nothing if there is none.
    void rangeOf(std::uint64_t address, std::uint64_t& begin, std::uint64_t& end) const {
        for (const Segment& each : segments_) {
            if (address - each.begin < each.end - each.begin) {
                begin = each.begin;
                end = each.end;
            }
        }
    }

    const std::vector<std::string>& paths() const { return paths_; }

private:
    struct Segment {
        std::uint64_t begin;
        std::uint64_t end;
        std::uint64_t bias;
        std::size_t module;
    };

    std::vector<Segment> segments_;
    std::vector<std::string> paths_;
};

} // namespace heapwright::drag
