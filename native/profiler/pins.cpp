// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Only the first and the last page of a block can be shared. Those between are its own.
#include "profiler/pins.hpp"

#include <algorithm>
#include <tuple>

namespace heapwright::profiler {

void PageCensus::use(std::uint64_t page, std::uint32_t process, std::uint32_t site,
                     std::uint64_t bytes) {
    uses_.push_back({page, process, site, static_cast<std::uint32_t>(bytes)});
}

void PageCensus::add(std::uint32_t process, const Block& block) {
    const std::uint64_t size = std::max<std::uint64_t>(block.size + block.slack, 1);
    const std::uint64_t last = block.address + std::min(size - 1, UINT64_MAX - block.address);
    const std::uint64_t firstPage = block.address / pageSize;
    const std::uint64_t lastPage = last / pageSize;
    if (firstPage == lastPage) {
        use(firstPage, process, block.site, last - block.address + 1);
        return;
    }
    use(firstPage, process, block.site, pageSize - block.address % pageSize);
    use(lastPage, process, block.site, last % pageSize + 1);
    if (lastPage - firstPage > 1)
        sites_[block.site].held += lastPage - firstPage - 1;
}

std::map<std::uint32_t, Pins> PageCensus::count() {
    std::sort(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) {
        return std::tie(a.process, a.page) < std::tie(b.process, b.page);
    });
    for (auto first = uses_.begin(); first != uses_.end();) {
        bool alone = true;
        std::uint64_t used = 0;
        auto each = first;
        for (; each != uses_.end() && each->page == first->page && each->process == first->process;
             ++each) {
            alone = alone && each->site == first->site;
            used += each->bytes;
        }
        if (alone) {
            Pins& pins = sites_[first->site];
            ++pins.held;
            pins.pinned += used <= mostUsed ? 1 : 0;
            pins.used += used <= mostUsed ? used : 0;
        }
        first = each;
    }
    uses_.clear();
    return std::move(sites_);
}

} // namespace heapwright::profiler
