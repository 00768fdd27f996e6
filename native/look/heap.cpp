// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "heap.hpp"

#include <algorithm>

namespace heapwright::look {

namespace {

constexpr Address keptOfFree = 48; ///< struct malloc_chunk: the links of a free chunk stay
constexpr std::size_t mostTables = 1 << 20;

class Accountant final : public Visitor {
public:
    Accountant(const Image& image, const Glibc& glibc, const ChunkSizes& fast)
        : image_(image), glibc_(glibc), fast_(fast) {}

    void begin(const Segment& segment) override {
        sum = ArenaAccount();
        tables.clear();
        run_ = 0;
        isMain_ = segment.arena == 0;
    }

    void chunk(const Chunk& chunk) override {
        const bool isFast = chunk.isInUse && !fast_.empty() && fast_.count(chunk.at) != 0;
        if (!chunk.isInUse) {
            sum.free.add(chunk.size);
            sum.wholePages += chunk.size > pageBytes ? image_.residentBytes(chunk.at + keptOfFree,
                                                                            chunk.at + chunk.size)
                                                     : 0;
        } else {
            sum.inUse.add(chunk.size);
            if (mayBeThreadCache(chunk.size) && tables.size() < mostTables) {
                tables.push_back(chunk.at);
            }
        }
        if (chunk.isInUse && !isFast) {
            finishRun(chunk.at);
        } else if (run_ == 0) {
            run_ = chunk.at;
        }
    }

    void end(Address at, std::uint64_t topSize) override {
        if (topSize == 0) {
            finishRun(at);
            return;
        }
        sum.topBytes = topSize;
        sum.topResident = image_.residentBytes(at + keptOfFree, at + topSize);
        if (isMain_ && isAtBreak(at, at + topSize)) {
            releaseTop(run_ == 0 ? at : run_, at + topSize);
        }
        run_ = 0;
    }

    ArenaAccount sum;
    std::vector<Address> tables; ///< chunks that may be tables of thread caches

private:
    /// The whole pages of a free chunk after merging.
    void finishRun(Address behind) {
        if (run_ != 0) {
            const Address first = pageUp(run_ + keptOfFree);
            if (behind - run_ > pageBytes - 1 + keptOfFree && behind > first) {
                sum.released += image_.residentBytes(first, first + pageDown(behind - first));
            }
            run_ = 0;
        }
    }

    /// glibc shrinks the heap only if its top ends at the break, which the program may have moved.
    /// A mapping that replaced sbrk has no break. A core names no heap.
    bool isAtBreak(Address top, Address end) const {
        const Mapping* const mapping = image_.find(top);
        return mapping != nullptr && mapping->end <= end &&
               (mapping->path == "[heap]" || mapping->path.empty());
    }

    void releaseTop(Address top, Address end) {
        const std::uint64_t size = end - top;
        const std::uint64_t thp = glibc_.parameters ? glibc_.parameters->thpBytes : 0;
        const std::uint64_t unit = thp == 0 ? pageBytes : thp;
        if (size > leastChunk + 1) {
            const std::uint64_t released = (size - leastChunk - 1) / unit * unit;
            sum.released += image_.residentBytes(end - released, end);
        }
    }

    const Image& image_;
    const Glibc& glibc_;
    const ChunkSizes& fast_;
    Address run_ = 0; ///< begin of the free chunks that malloc_consolidate merges
    bool isMain_ = true;
};

void add(Blocks& to, const Blocks& more) {
    to.blocks += more.blocks;
    to.bytes += more.bytes;
}

void add(ArenaAccount& to, const Segment& segment, const ArenaAccount& sum, const Image& image) {
    ++to.heaps;
    to.bytes += segment.end - segment.begin;
    to.resident += image.residentBytes(pageDown(segment.begin), pageUp(segment.end));
    add(to.inUse, sum.inUse);
    add(to.free, sum.free);
    to.wholePages += sum.wholePages;
    to.topBytes += sum.topBytes;
    to.topResident += sum.topResident;
    to.released += sum.released;
}

const Segment* segmentWith(const std::vector<Segment>& segments, Address at) {
    const auto after =
        std::upper_bound(segments.begin(), segments.end(), at,
                         [](Address wanted, const Segment& each) { return wanted < each.begin; });
    return after != segments.begin() && at < std::prev(after)->end ? &*std::prev(after) : nullptr;
}

/// Assigns chunks to the arenas in whose heaps they are.
void assign(HeapAccount& account, const ChunkSizes& chunks, Blocks ArenaAccount::*kind) {
    for (const auto& [at, size] : chunks) {
        if (const Segment* const segment = segmentWith(account.segments, at)) {
            (account.arenas[segment->arena].*kind).add(size);
        }
    }
}

class Collector final : public Visitor {
public:
    Collector(const HeapAccount& account, std::size_t most) : account_(account), most_(most) {}

    void begin(const Segment&) override {
        found.resize(kept);
        more = moreBefore;
    }

    void chunk(const Chunk& chunk) override {
        if (!chunk.isInUse || account_.cached.count(chunk.at) != 0) {
            return;
        }
        if (found.size() >= most_) {
            more = true;
        } else {
            found.push_back(chunk);
        }
    }

    void end(Address, std::uint64_t) override {}

    void keep() {
        kept = found.size();
        moreBefore = more;
    }

    std::vector<Chunk> found;
    bool more = false;

private:
    const HeapAccount& account_;
    std::size_t most_;
    std::size_t kept = 0;
    bool moreBefore = false;
};

} // namespace

HeapAccount accountOf(const Image& image, const Glibc& glibc) {
    HeapAccount account;
    account.segments = segmentsOf(image, glibc);
    std::sort(account.segments.begin(), account.segments.end(),
              [](const Segment& one, const Segment& other) { return one.begin < other.begin; });
    ChunkSizes fast;
    for (const Arena& arena : glibc.arenas) {
        account.arenas.emplace_back().arena = arena;
        addFastChunks(image, arena, fast);
    }
    std::vector<Address> possible;
    for (const Segment& segment : account.segments) {
        Accountant accountant(image, glibc, fast);
        const WalkResult result = walk(image, segment, segment.arena == 0, accountant);
        ArenaAccount& arena = account.arenas[segment.arena];
        add(arena, segment, accountant.sum, image);
        arena.lostBytes += result.lostBytes;
        arena.repeats += result.repeats;
        possible.insert(possible.end(), accountant.tables.begin(), accountant.tables.end());
    }
    for (const Address each : possible) {
        if (addThreadCache(image, each, account.cached)) {
            account.tables.push_back(each);
        }
    }
    assign(account, account.cached, &ArenaAccount::cachedByThreads);
    assign(account, fast, &ArenaAccount::fast);
    account.cached.insert(fast.begin(), fast.end());
    return account;
}

std::pair<std::vector<Chunk>, bool> liveChunks(const Image& image, const HeapAccount& account,
                                               std::size_t most) {
    Collector collector(account, most);
    for (const Segment& segment : account.segments) {
        walk(image, segment, segment.arena == 0, collector);
        collector.keep();
    }
    for (const Address table : account.tables) {
        const auto at =
            std::lower_bound(collector.found.begin(), collector.found.end(), table,
                             [](const Chunk& each, Address wanted) { return each.at < wanted; });
        if (at != collector.found.end() && at->at == table) {
            collector.found.erase(at);
        }
    }
    return {std::move(collector.found), collector.more};
}

} // namespace heapwright::look
