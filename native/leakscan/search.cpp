// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "search.hpp"

#include <algorithm>
#include <unordered_map>

namespace heapwright::leakscan {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t linkOffset = 8;
constexpr std::uint64_t nearlyAll = 10; ///< nine in ten
constexpr std::size_t pageWords = page / sizeof(std::uint64_t);

class Search {
public:
    Search(const Memory& memory, LiveBlocks& live)
        : memory_(memory), readable_(memory.readable()), live_(live) {
        if (!live.blocks().empty()) {
            lowest_ = live.blocks().front().begin;
            highest_ = live.blocks().back().begin + live.blocks().back().usable;
        }
    }

    /// The words of this range outside the heap. Pages that contained blocks are skipped, because
    /// they hold stale pointers.
    void roots(const Range& range) {
        for (std::uint64_t at = range.begin; at < range.end;) {
            const std::uint64_t end = std::min(range.end, (at / page + 1) * page);
            if (!live_.pages().has(at)) {
                links_ = range.ofCLibrary;
                scan(at, end);
                links_ = false;
            }
            at = end;
        }
    }

    /// The remaining contents of a freed block, where the allocator has not written.
    void stale(std::uint64_t begin, std::uint64_t usable) {
        links_ = true;
        scanReadable((begin + 7) & ~std::uint64_t{7}, begin + usable);
        links_ = false;
    }

    void drain() {
        while (!waiting_.empty()) {
            const Block block = *waiting_.back();
            waiting_.pop_back();
            scanReadable((block.begin + 7) & ~std::uint64_t{7}, block.begin + block.usable);
        }
    }

    void look(std::uint64_t word) {
        if (word < lowest_ || word >= highest_) {
            return;
        }
        Block* const block = live_.find(word);
        if (block != nullptr && !block->reached && mayBePointer(word, *block)) {
            block->reached = true;
            waiting_.push_back(block);
        }
    }

private:
    /// A program points into the memory that it requested, or to its end. The C library links free
    /// blocks by the addresses of their headers, 16 bytes before them. Such an address is in the
    /// last word of the live block before.
    bool mayBePointer(std::uint64_t word, const Block& block) const {
        const std::uint64_t offset = word - block.begin;
        const bool isLink =
            links_ && block.usable > linkOffset && offset == block.usable - linkOffset;
        return offset <= block.size && !isLink;
    }

    /// A block from a damaged trace may be huge, but most of it is unmapped.
    void scanReadable(std::uint64_t from, std::uint64_t to) {
        auto range = std::upper_bound(
            readable_.begin(), readable_.end(), from,
            [](std::uint64_t wanted, const Range& some) { return wanted < some.end; });
        for (; range != readable_.end() && range->begin < to; ++range) {
            scan(std::max(from, range->begin), std::min(to, range->end));
        }
    }

    void scan(std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t at = from; at + sizeof(std::uint64_t) <= to;) {
            const std::size_t wanted =
                std::min<std::size_t>(pageWords, (to - at) / sizeof *buffer_);
            const std::size_t got = memory_.read(at, buffer_, wanted);
            if (got == 0) { // a page that cannot be read
                at = (at / page + 1) * page;
                continue;
            }
            std::for_each(buffer_, buffer_ + got, [this](std::uint64_t word) { look(word); });
            at += got * sizeof *buffer_;
        }
    }

    const Memory& memory_;
    const std::vector<Range> readable_;
    LiveBlocks& live_;
    std::uint64_t lowest_ = ~std::uint64_t{0};
    std::uint64_t highest_ = 0;
    std::vector<Block*> waiting_;
    bool links_ = false; ///< what is scanned may have the C library's links
    std::uint64_t buffer_[pageWords] = {};
};

} // namespace

void search(const Memory& memory, const std::vector<std::uint64_t>& words, LiveBlocks& live) {
    Search from(memory, live);
    std::for_each(words.begin(), words.end(), [&from](std::uint64_t word) { from.look(word); });
    for (const Range& range : memory.written()) {
        from.roots(range);
        from.drain();
    }
}

namespace {

using Counts = std::unordered_map<std::uint32_t, std::uint64_t>;

/// The blocks that were not reached, by stack.
Counts lostByStack(const LiveBlocks& live) {
    Counts counts;
    for (const Block& block : live.blocks()) {
        counts[block.stack] += block.reached ? 0 : 1;
    }
    return counts;
}

} // namespace

void searchTeardown(const Memory& memory, LiveBlocks& live, const Kept& kept) {
    const Counts before = lostByStack(live);
    Search from(memory, live);
    for (const Freed& block : live.freedLately()) {
        const auto found = kept.find(block.begin);
        from.stale(found == kept.end() ? block.begin : found->second, block.usable);
    }
    from.drain();
    const Counts after = lostByStack(live);
    for (Block& block : live.blocks()) {
        if (nearlyAll * after.at(block.stack) <= before.at(block.stack)) {
            block.reached = true;
        }
    }
}

} // namespace heapwright::leakscan
