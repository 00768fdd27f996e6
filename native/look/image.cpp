// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "image.hpp"

#include <algorithm>

namespace heapwright::look {

std::uint64_t Image::residentBytes(Address begin, Address end) const {
    constexpr std::size_t atOnce = 8192;
    Page states[atOnce];
    std::uint64_t found = 0;
    begin = pageUp(begin);
    end = pageDown(end);
    while (begin < end) {
        const std::size_t count = std::min<std::uint64_t>(atOnce, (end - begin) / pageBytes);
        pages(begin, count, states);
        found += static_cast<std::uint64_t>(std::count(states, states + count, Page::resident));
        begin += count * pageBytes;
    }
    return found * pageBytes;
}

const Mapping* Image::find(Address at) const {
    const std::vector<Mapping>& all = mappings();
    const auto after =
        std::upper_bound(all.begin(), all.end(), at,
                         [](Address wanted, const Mapping& each) { return wanted < each.begin; });
    return after != all.begin() && at < std::prev(after)->end ? &*std::prev(after) : nullptr;
}

} // namespace heapwright::look
