// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The requested sizes: the commonest, the cumulative distribution, the histogram.
#include "profiler/sizes.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace heapwright::profiler {
namespace {

constexpr std::size_t mostListed = 256;
constexpr std::size_t mostCumulative = 1000;
constexpr std::size_t decisive = 10; ///< sizes whose common share is a figure of its own

void writeTop(Json& json, const std::vector<CountedSize>& top, std::uint64_t allocations) {
    json.key("top").beginArray();
    for (const auto& [size, count] : top) {
        json.beginObject().field("size", size).field("count", count.allocations);
        json.field("share", share(count.allocations, allocations));
        json.field("bytes", size * count.allocations).endObject();
    }
    json.endArray();
}

/// All sizes if they are few; else those at which a thousandth more of the allocations is reached.
void writeCumulative(Json& json, const std::vector<CountedSize>& sizes, std::uint64_t allocations) {
    json.key("cumulative").beginArray();
    const bool all = sizes.size() <= mostCumulative;
    const std::uint64_t stride = allocations / (mostCumulative - 2) + 1;
    std::uint64_t sum = 0;
    std::uint64_t written = 0;
    for (std::size_t at = 0; at < sizes.size(); ++at) {
        sum += sizes[at].count.allocations;
        if (all || at == 0 || at + 1 == sizes.size() || sum - written >= stride) {
            json.beginArray().value(sizes[at].size).value(share(sum, allocations)).endArray();
            written = sum;
        }
    }
    json.endArray();
}

/// Powers of two from 16 on.
void writeHistogram(Json& json, const std::vector<CountedSize>& sizes) {
    const auto limit = [](std::uint64_t size) -> std::uint64_t {
        if (size <= 16)
            return size == 0 ? 0 : 16;
        return size > (std::uint64_t{1} << 63) ? UINT64_MAX : std::bit_ceil(size);
    };
    json.key("histogram").beginArray();
    for (std::size_t at = 0; at < sizes.size();) {
        const std::uint64_t high = limit(sizes[at].size);
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
        for (; at < sizes.size() && limit(sizes[at].size) == high; ++at) {
            count += sizes[at].count.allocations;
            bytes += sizes[at].size * sizes[at].count.allocations;
        }
        json.beginObject().field("low", high <= 16 ? std::uint64_t{0} : high / 2 + high % 2);
        json.field("high", high).field("count", count).field("bytes", bytes).endObject();
    }
    json.endArray();
}

} // namespace

SizeCount Sizes::look(std::uint64_t size) const {
    if (size < smallSizes)
        return small_[static_cast<std::size_t>(size)];
    return large_[placeOf(size)].count; // an empty place has counted nothing
}

SizeCount& Sizes::add(std::uint64_t size) {
    if (2 * ++larges_ > large_.size()) {
        std::vector<CountedSize> old(2 * large_.size());
        old.swap(large_);
        for (const CountedSize& each : old)
            if (each.size != 0)
                large_[placeOf(each.size)] = each;
    }
    CountedSize& place = large_[placeOf(size)];
    place.size = size;
    return place.count;
}

std::vector<CountedSize> Sizes::bySize() const {
    std::vector<CountedSize> all;
    for (std::size_t size = 0; size < smallSizes; ++size)
        if (small_[size].allocations != 0)
            all.push_back({size, small_[size]});
    const std::size_t large = all.size();
    std::copy_if(large_.begin(), large_.end(), std::back_inserter(all),
                 [](const CountedSize& each) { return each.count.allocations != 0; });
    std::sort(all.begin() + static_cast<std::ptrdiff_t>(large), all.end(),
              [](const CountedSize& a, const CountedSize& b) { return a.size < b.size; });
    return all;
}

std::vector<CountedSize> Sizes::commonest(std::size_t most) const {
    std::vector<CountedSize> all = bySize();
    const auto before = [](const CountedSize& a, const CountedSize& b) {
        const auto [more, less] = std::pair(a.count.allocations, b.count.allocations);
        return more != less ? more > less : a.size < b.size;
    };
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
    std::partial_sort(all.begin(), end, all.end(), before);
    all.erase(end, all.end());
    return all;
}

void Sizes::write(Json& json, std::uint64_t allocations) const {
    const std::vector<CountedSize> sizes = bySize();
    const std::vector<CountedSize> top = commonest(mostListed);
    std::uint64_t few = 0;
    for (std::size_t at = 0; at < std::min(decisive, top.size()); ++at)
        few += top[at].count.allocations;
    json.field("distinct", std::uint64_t{sizes.size()});
    json.field("top10_share", share(few, allocations));
    writeTop(json, top, allocations);
    writeCumulative(json, sizes, allocations);
    writeHistogram(json, sizes);
}

} // namespace heapwright::profiler
