// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "mapped.hpp"

#include <algorithm>

namespace heapwright::look {

namespace {

struct Header {
    std::uint64_t skipped;
    std::uint64_t word;

    std::uint64_t size() const { return word & ~sizeFlags; }
    bool isMapped() const { return (word & sizeFlags) == mappedBit; }
};

class Search {
public:
    Search(const Image& image, const Glibc& glibc, const std::vector<Segment>& segments)
        : image_(image), segments_(segments), parameters_(glibc.parameters) {}

    void in(const Mapping& mapping) {
        constexpr std::size_t atOnce = 4096;
        Page states[atOnce];
        for (Address at = mapping.begin; at < mapping.end && !isComplete();) {
            const std::size_t count =
                std::min<std::uint64_t>(atOnce, (mapping.end - at) / pageBytes);
            image_.pages(at, count, states);
            Address next = at + count * pageBytes;
            for (std::size_t page = 0; page < count; ++page) {
                const Address begin = at + page * pageBytes;
                const std::uint64_t size =
                    states[page] == Page::absent ? 0 : sizeAt(begin, mapping.end);
                if (size != 0) {
                    next = begin + size;
                    break;
                }
            }
            at = next;
        }
    }

    bool isComplete() const {
        return parameters_ && found.size() >= parameters_->mmaps &&
               bytes_ >= parameters_->mmappedBytes;
    }

    std::vector<MappedChunk> found;

private:
    /// The size of the mapped chunk that begins there; 0 if none does.
    std::uint64_t sizeAt(Address at, Address end) {
        Header header{};
        image_.readValue(at, header);
        const std::uint64_t size = header.size();
        if (!header.isMapped() || header.skipped != 0 || size == 0 || size % pageBytes != 0 ||
            size > end - at || isHeap(at)) {
            return 0;
        }
        found.push_back({at, size, skippedIn(at, size)});
        bytes_ += size;
        return size;
    }

    /// memalign places the chunk behind the begin of the mapping and writes a second header there.
    std::uint64_t skippedIn(Address at, std::uint64_t size) const {
        for (Address alignment = leastChunk; alignment < size; alignment *= 2) {
            const Address object = (at + chunkHeader + alignment - 1) & ~(alignment - 1);
            const std::uint64_t skipped = object - chunkHeader - at;
            Header header{};
            if (skipped == 0 || skipped + leastChunk > size ||
                !image_.readValue(object - chunkHeader, header)) {
                continue;
            }
            if (header.isMapped() && header.skipped == skipped && header.size() == size - skipped) {
                return skipped;
            }
        }
        return 0;
    }

    bool isHeap(Address at) const {
        const auto after = std::upper_bound(
            segments_.begin(), segments_.end(), at,
            [](Address wanted, const Segment& each) { return wanted < pageDown(each.begin); });
        return after != segments_.begin() && at < std::prev(after)->end;
    }

    const Image& image_;
    const std::vector<Segment>& segments_;
    const std::optional<Parameters>& parameters_;
    std::uint64_t bytes_ = 0;
};

} // namespace

std::vector<MappedChunk> mappedChunks(const Image& image, const Glibc& glibc,
                                      const std::vector<Segment>& segments) {
    Search search(image, glibc, segments);
    for (const Mapping& mapping : image.mappings()) {
        if (mapping.isData() && mapping.path.empty() && !search.isComplete()) {
            search.in(mapping);
        }
    }
    return std::move(search.found);
}

} // namespace heapwright::look
