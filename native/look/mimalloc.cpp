// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "mimalloc.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace heapwright::look {

namespace {

constexpr Address segmentBytes = Address{32} << 20;
constexpr Address sliceBytes = 64 << 10;
constexpr std::uint64_t slicesPerSegment = segmentBytes / sliceBytes;
constexpr std::uint64_t largestSegment = std::uint64_t{1} << 31; ///< slices
constexpr int attempts = 4;
constexpr std::uint64_t inMotion = 1; ///< blocks of a page that a thread may hold between

/// Where the fields of a version are, in bytes.
struct Layout {
    unsigned version;
    struct {
        std::size_t used, cookie, slices, infoSlices, kind, entries, table;
    } segment;
    struct {
        std::size_t bytes, capacity, reserved, free, localFree, used, usedBytes, size, sizeBytes;
        std::size_t start; ///< 0: the page has no such field, see `startOf`
        std::size_t threadFree, heap;
    } page;
    struct {
        std::size_t delayedFree, pageCount;
    } heap;
};

constexpr Layout layouts[] = {
    {209,
     {.used = 208,
      .cookie = 216,
      .slices = 224,
      .infoSlices = 232,
      .kind = 240,
      .entries = 248,
      .table = 264},
     {.bytes = 80,
      .capacity = 10,
      .reserved = 12,
      .free = 16,
      .localFree = 32,
      .used = 24,
      .usedBytes = 4,
      .size = 28,
      .sizeBytes = 4,
      .start = 0,
      .threadFree = 40,
      .heap = 48},
     {.delayedFree = 2840, .pageCount = 3024}},
    {20302,
     {.used = 216,
      .cookie = 224,
      .slices = 248,
      .infoSlices = 256,
      .kind = 264,
      .entries = 272,
      .table = 288},
     {.bytes = 96,
      .capacity = 10,
      .reserved = 12,
      .free = 16,
      .localFree = 24,
      .used = 32,
      .usedBytes = 2,
      .size = 40,
      .sizeBytes = 8,
      .start = 48,
      .threadFree = 56,
      .heap = 64},
     {.delayedFree = 8, .pageCount = 192}},
};

constexpr std::uint64_t largestKnown = std::uint64_t{2}
                                       << 30; ///< a size of 32 bits; larger are this

/// The first block, in versions that do not store it: behind a gap if the blocks are small.
Address startOf(Address area, std::uint64_t blockBytes) {
    constexpr std::uint64_t largestSmall = 1024;
    constexpr std::uint64_t gap = 384;
    return area + (blockBytes <= largestSmall ? gap : 0);
}

/// The walk disagrees with itself. The process may have changed meanwhile.
struct Disagreement : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void demand(bool holds, const char* what) {
    if (!holds) {
        throw Disagreement(what);
    }
}

/// Bytes that were read at once.
class Record {
public:
    Record(const Image& image, Address at, std::size_t bytes) : bytes_(bytes) {
        demand(image.read(at, bytes_.data(), bytes), "a part of it is not readable");
    }

    std::uint64_t number(std::size_t at, std::size_t bytes = 8) const {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes_.data() + at, bytes);
        return value;
    }

    bool isZero() const {
        return std::all_of(bytes_.begin(), bytes_.end(), [](char each) { return each == 0; });
    }

private:
    std::vector<char> bytes_;
};

/// A run of blocks of one size.
struct PageOfBlocks {
    Address start;
    std::uint64_t blockBytes;
    std::uint64_t capacity;
    std::uint64_t live;

    Address end() const { return start + blockBytes * capacity; }
};

class Walk {
public:
    Walk(const Image& image, const Layout& layout) : image_(image), layout_(layout) {}

    MimallocAccount account() {
        for (const Mapping& mapping : image_.mappings()) {
            const bool isNamed = mapping.path.rfind("[anon:", 0) == 0;
            if (mapping.isData() && (mapping.path.empty() || isNamed)) {
                addSegmentsIn(mapping.begin, mapping.end);
            }
        }
        demand(sum_.segments != 0 && secret_ != 0, "it has no segment");
        for (const auto& [secret, fault] : strangers_) {
            demand(secret != secret_, fault);
        }
        for (const auto& [heap, pages] : heaps_) {
            demand(image_.word(heap + layout_.heap.pageCount) == pages,
                   "a heap counts other pages than were found");
            subtractDelayed(image_.word(heap + layout_.heap.delayedFree));
        }
        for (const PageOfBlocks& page : pages_) {
            sum_.live.blocks += page.live;
            sum_.live.bytes += page.live * page.blockBytes;
            sum_.freeBytes += page.live == 0 ? 0 : (page.capacity - page.live) * page.blockBytes;
        }
        demand(sum_.live.bytes <= sum_.segments * segmentBytes + huge_,
               "its blocks are larger than its segments");
        sum_.pages = pages_.size();
        return sum_;
    }

private:
    void addSegmentsIn(Address begin, Address end) {
        Address at = std::max((begin + segmentBytes - 1) & ~(segmentBytes - 1), next_);
        while (at + sliceBytes <= end) {
            Page state = Page::absent;
            image_.pages(at, 1, &state);
            const std::uint64_t bytes = state == Page::absent ? 0 : addSegment(at);
            at += std::max((bytes + segmentBytes - 1) & ~(segmentBytes - 1), segmentBytes);
            next_ = at;
        }
    }

    /// Returns how many bytes belong to it; 0: nothing is there.
    std::uint64_t addSegment(Address at) {
        const auto& fields = layout_.segment;
        const std::size_t tableBytes = slicesPerSegment * layout_.page.bytes;
        const Record segment(image_, at, fields.table + tableBytes);
        if (segment.isZero()) {
            return 0;
        }
        const std::uint64_t secret = segment.number(fields.cookie) ^ at;
        std::vector<Span> spans;
        if (const char* const fault = faultOf(segment, at, spans); fault != nullptr) {
            strangers_.emplace_back(secret, fault);
            return 0;
        }
        secret_ = secret_ == 0 ? secret : secret_;
        demand(secret == secret_, "a segment has another secret");
        const bool isHuge = segment.number(fields.kind, 4) == 1;
        for (const Span& span : spans) {
            addPage(at + span.entry, {at + span.begin, span.bytes}, isHuge);
        }
        const std::uint64_t slices = segment.number(fields.slices);
        const std::uint64_t bytes = spans.empty() ? segmentBytes : slices * sliceBytes;
        ++sum_.segments;
        huge_ += bytes > segmentBytes ? bytes - segmentBytes : 0;
        sum_.resident += image_.residentBytes(at, at + bytes);
        return bytes;
    }

    /// The slices of a page.
    struct Span {
        std::size_t entry; ///< of its record in the segment
        Address begin;     ///< in the segment
        std::uint64_t bytes;
    };

    /// Why this is no segment. Null, and its pages, if it is one.
    const char* faultOf(const Record& segment, Address at, std::vector<Span>& pages) const {
        const auto& fields = layout_.segment;
        const std::uint64_t slices = segment.number(fields.slices);
        const std::uint64_t info = segment.number(fields.infoSlices);
        const std::uint64_t entries = segment.number(fields.entries);
        const std::uint64_t kind = segment.number(fields.kind, 4);
        const bool isHuge = kind == 1;
        if (kind > 1 || info < 1 || info >= slices || slices > largestSegment ||
            entries != std::min(slices, slicesPerSegment) ||
            (!isHuge && slices != slicesPerSegment)) {
            return "a segment has an impossible size";
        }
        std::uint64_t slice = 0;
        while (slice < entries) {
            const std::size_t entry = fields.table + slice * layout_.page.bytes;
            const std::uint64_t count = segment.number(entry, 4);
            if (count < 1 || count > slices - slice || segment.number(entry + 4, 4) != 0) {
                return "the spans of a segment do not fill it";
            }
            const std::uint64_t size =
                segment.number(entry + layout_.page.size, layout_.page.sizeBytes);
            if (slice != 0 && size > 1) {
                pages.push_back({entry, slice * sliceBytes, count * sliceBytes});
            }
            slice += count;
        }
        if (slice != entries && !isHuge) {
            return "the spans of a segment do not fill it";
        }
        if (pages.size() != segment.number(fields.used)) {
            return "a segment counts other pages than it has";
        }
        if (!pages.empty() && !isMapped(at, at + slices * sliceBytes)) {
            return "a segment is larger than its memory";
        }
        return nullptr;
    }

    bool isMapped(Address begin, Address end) const {
        for (Address at = begin; at < end;) {
            const Mapping* const mapping = image_.find(at);
            if (mapping == nullptr) {
                return false;
            }
            at = mapping->end;
        }
        return true;
    }

    struct Area {
        Address begin;
        std::uint64_t bytes;
    };

    /// Reads it again if its counts do not agree, because the program may use it meanwhile.
    void addPage(Address at, Area area, bool isHuge) {
        for (int attempt = 1;; ++attempt) {
            try {
                pages_.push_back(pageAt(Record(image_, at, layout_.page.bytes), area, isHuge));
                return;
            } catch (const Disagreement&) {
                if (attempt == attempts) {
                    throw;
                }
            }
        }
    }

    PageOfBlocks pageAt(const Record& page, Area area, bool isHuge) {
        const auto& fields = layout_.page;
        const std::uint64_t stored = page.number(fields.size, fields.sizeBytes);
        const bool isLargest = fields.sizeBytes == 4 && stored == largestKnown && isHuge;
        const std::uint64_t size = isLargest ? area.bytes : stored;
        const std::uint64_t capacity = page.number(fields.capacity, 2);
        const std::uint64_t used = page.number(fields.used, fields.usedBytes);
        const Address start =
            fields.start == 0 ? startOf(area.begin, size) : page.number(fields.start);
        demand(size >= 8 && size % 8 == 0 && used <= capacity && start >= area.begin &&
                   start < area.begin + area.bytes && capacity <= page.number(fields.reserved, 2),
               "a page has an impossible size");
        const std::uint64_t fit = (area.begin + area.bytes - start) / size;
        demand(isHuge ? capacity <= 1 && size <= area.bytes
                      : fit == page.number(fields.reserved, 2),
               "a page counts other blocks than fit into it");
        const PageOfBlocks blocks = {start, size, capacity, 0};
        lists_.clear();
        const std::uint64_t free = lengthOf(page.number(fields.free), blocks) +
                                   lengthOf(page.number(fields.localFree), blocks);
        const std::uint64_t all = used + free;
        demand(std::max(all, capacity) - std::min(all, capacity) <= (capacity == 1 ? 0 : inMotion),
               "the blocks of a page are other ones than it counts");
        const std::uint64_t freedByOthers =
            lengthOf(page.number(fields.threadFree) & ~std::uint64_t{3}, blocks);
        demand(freedByOthers <= used, "other threads freed more blocks of a page than it has");
        if (const Address heap = page.number(fields.heap); heap != 0) {
            ++heaps_[heap];
        }
        return {start, size, capacity, used - freedByOthers};
    }

    /// The blocks of a list, all of which are in the page.
    std::uint64_t lengthOf(Address first, const PageOfBlocks& page) {
        std::uint64_t length = 0;
        for (Address at = first; at != 0; at = next(at, page)) {
            demand(at >= page.start && at < page.end() && (at - page.start) % page.blockBytes == 0,
                   "a list leads out of its page");
            demand(++length <= page.capacity, "a list has no end");
        }
        return length;
    }

    /// The first word of a free block. The page is read at once.
    std::uint64_t next(Address at, const PageOfBlocks& page) {
        if (page.capacity == 1) {
            return image_.word(at);
        }
        if (lists_.empty()) {
            lists_.resize(page.end() - page.start);
            demand(image_.read(page.start, lists_.data(), lists_.size()),
                   "a part of it is not readable");
        }
        std::uint64_t word = 0;
        std::memcpy(&word, lists_.data() + (at - page.start), sizeof word);
        return word;
    }

    /// The first block that another thread frees of a full page goes to a list of the heap.
    void subtractDelayed(Address first) {
        std::uint64_t length = 0;
        for (Address at = first; at != 0; at = image_.word(at)) {
            const auto page = std::lower_bound(
                pages_.begin(), pages_.end(), at,
                [](const PageOfBlocks& each, Address wanted) { return each.end() <= wanted; });
            demand(page != pages_.end() && at >= page->start && page->live > 0,
                   "a list leads out of its heap");
            demand(++length <= pages_.size(), "a list has no end");
            --page->live;
        }
    }

    const Image& image_;
    const Layout& layout_;
    MimallocAccount sum_;
    std::vector<PageOfBlocks> pages_;        ///< ascending
    std::vector<char> lists_;                ///< the blocks of the page that is read
    std::map<Address, std::uint64_t> heaps_; ///< the number of its pages
    std::vector<std::pair<std::uint64_t, const char*>> strangers_; ///< secrets, and their faults
    std::uint64_t secret_ = 0;
    std::uint64_t huge_ = 0; ///< bytes of segments beyond the usual size
    Address next_ = 0;
};

} // namespace

std::optional<MimallocAccount> findMimalloc(const Image& image, unsigned version) {
    const auto* const layout =
        std::find_if(std::begin(layouts), std::end(layouts),
                     [version](const Layout& each) { return each.version == version; });
    if (layout == std::end(layouts)) {
        return std::nullopt;
    }
    for (int attempt = 1;; ++attempt) {
        try {
            return Walk(image, *layout).account();
        } catch (const Disagreement& error) {
            if (attempt == attempts) {
                MimallocAccount unknown;
                unknown.problem = error.what();
                return unknown;
            }
        }
    }
}

} // namespace heapwright::look
