// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The search over memory that is made up here, so that every pointer in it is known.
#include "leakscan/search.hpp"

#include "leakscan/hold/kept.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

#include "live_trace.hpp"

namespace heapwright::leakscan {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t data = 0x5000'0000'0000;
constexpr std::uint64_t heap = 0x7000'0000'0000;

/// Zeros but for the words that were put there.
class MadeUp final : public Memory {
public:
    void map(const Range& range, bool written) {
        readable_.push_back(range);
        if (written) {
            written_.push_back(range);
        }
    }
    void put(std::uint64_t at, std::uint64_t word) { words_[at] = word; }
    std::uint64_t asked() const { return asked_; }

    std::vector<Range> written() const override { return written_; }
    std::vector<Range> readable() const override { return readable_; }
    std::size_t read(std::uint64_t address, std::uint64_t* words, std::size_t most) const override {
        ++asked_;
        const auto range =
            std::find_if(readable_.begin(), readable_.end(), [address](const Range& some) {
                return some.begin <= address && address < some.end;
            });
        if (range == readable_.end()) {
            return 0;
        }
        const std::size_t got = std::min<std::size_t>(most, (range->end - address) / sizeof *words);
        for (std::size_t word = 0; word < got; ++word) {
            const auto found = words_.find(address + word * sizeof *words);
            words[word] = found == words_.end() ? 0 : found->second;
        }
        return got;
    }

private:
    std::vector<Range> written_;
    std::vector<Range> readable_;
    std::map<std::uint64_t, std::uint64_t> words_;
    mutable std::uint64_t asked_ = 0;
};

MadeUp program() {
    MadeUp memory;
    memory.map({data, data + 2 * page}, true);
    memory.map({heap, heap + 16 * page}, true);
    return memory;
}

std::vector<bool> reached(const LiveBlocks& live) {
    std::vector<bool> all;
    for (const Block& block : live.blocks()) {
        all.push_back(block.reached);
    }
    return all;
}

TEST(Search, FollowsFromDataAndOnFromBlockToBlock) {
    LiveBlocks live =
        LiveTrace().malloc(heap, 32).malloc(heap + 64, 32).malloc(heap + 128, 32).live();
    MadeUp memory = program();
    memory.put(data + page + 8, heap);  // data -> first
    memory.put(heap + 24, heap + 64);   // first -> second, and nothing to the third
    memory.put(heap + 128, heap + 128); // which points to itself
    search(memory, {}, live);
    EXPECT_EQ(reached(live), (std::vector{true, true, false}));
}

TEST(Search, AcceptsAPointerIntoTheMiddleButNotBehind) {
    LiveBlocks live = LiveTrace().malloc(heap, 32, 40).malloc(heap + 64, 32, 40).live();
    MadeUp memory = program();
    memory.put(data, heap + 32); // the end of the requested size
    memory.put(data + 8, heap + 64 + 33);
    search(memory, {}, live);
    EXPECT_EQ(reached(live), (std::vector{true, false}));
}

/// A free block stands behind the live one, and its header is named by the address 16 bytes before.
TEST(Search, ALinkOfTheCLibraryToAFreeBlockIsNoPointer) {
    MadeUp memory = program();
    const std::uint64_t link = heap + 24 - 8;
    memory.put(data, link);
    LiveBlocks own = LiveTrace().malloc(heap, 24).live();
    search(memory, {}, own);
    EXPECT_EQ(reached(own), std::vector{true}) << "the program's own data may point there";

    MadeUp library;
    library.map({data, data + page, true}, true);
    library.map({heap, heap + page}, true);
    library.put(data, link);
    LiveBlocks linked = LiveTrace().malloc(heap, 24).live();
    search(library, {}, linked);
    EXPECT_EQ(reached(linked), std::vector{false});
    library.put(data, heap + 8);
    search(library, {}, linked);
    EXPECT_EQ(reached(linked), std::vector{true});
}

TEST(Search, BeginsWithTheWordsOfRegisters) {
    LiveBlocks live = LiveTrace().malloc(heap, 32).malloc(heap + 64, 32).live();
    MadeUp memory = program();
    memory.put(heap, heap + 64);
    search(memory, {1, heap + 8}, live);
    EXPECT_EQ(reached(live), (std::vector{true, true}));
}

TEST(Search, IgnoresStalePointersInPagesOfTheHeap) {
    LiveBlocks live = LiveTrace().malloc(heap, 32).malloc(heap + 64, 32).free(heap + 64).live();
    MadeUp memory = program();
    memory.put(heap + 64, heap); // from a freed object
    search(memory, {}, live);
    EXPECT_EQ(reached(live), std::vector{false});
}

TEST(Search, BlocksInPagesThatMayNotBeWrittenLeadOn) {
    LiveBlocks live = LiveTrace().malloc(heap, 32).malloc(heap + 0x100'0000, 32).live();
    MadeUp memory = program();
    memory.map({heap + 0x100'0000, heap + 0x100'0000 + page}, false);
    memory.put(data, heap + 0x100'0000);
    memory.put(heap + 0x100'0000, heap);
    search(memory, {}, live);
    EXPECT_EQ(reached(live), (std::vector{true, true}));
}

TEST(Search, AChainOfManyBlocksNeedsNoStack) {
    constexpr std::uint64_t many = 4000;
    LiveTrace trace;
    MadeUp memory = program();
    for (std::uint64_t block = 0; block < many; ++block) {
        trace.malloc(heap + 16 * block, 16);
        memory.put(heap + 16 * block, heap + 16 * (block + 1));
    }
    memory.put(data, heap);
    LiveBlocks live = trace.live();
    search(memory, {}, live);
    EXPECT_TRUE(std::all_of(live.blocks().begin(), live.blocks().end(),
                            [](const Block& block) { return block.reached; }));
}

TEST(Search, ABlockOfADamagedSizeIsReadOnlyWhereMemoryIs) {
    LiveBlocks live = LiveTrace().malloc(heap, std::uint64_t{1} << 45).live();
    MadeUp memory = program();
    memory.put(data, heap);
    search(memory, {}, live);
    EXPECT_EQ(reached(live), std::vector{true});
    EXPECT_LT(memory.asked(), 100u);
}

bool holds(const std::vector<Range>& ranges, const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return std::any_of(ranges.begin(), ranges.end(),
                       [at](const Range& range) { return range.begin <= at && at < range.end; });
}

TEST(ProcessMemory, ReadsItsOwn) {
    const ProcessMemory memory(getpid());
    static std::uint64_t known = 0;
    known = 0x1234'5678'9abc'def0;
    std::uint64_t word = 0;
    EXPECT_EQ(memory.read(reinterpret_cast<std::uintptr_t>(&known), &word, 1), 1u);
    EXPECT_EQ(word, known);
    EXPECT_EQ(memory.read(8, &word, 1), 0u);
    static const int constant = 7;
    EXPECT_TRUE(holds(memory.written(), &known));
    EXPECT_TRUE(holds(memory.readable(), &constant));
    EXPECT_FALSE(holds(memory.written(), &constant));
    const std::vector<Range> readable = memory.readable();
    EXPECT_TRUE(std::is_sorted(readable.begin(), readable.end(),
                               [](const Range& a, const Range& b) { return a.begin < b.begin; }));
}

TEST(ProcessMemory, ATableThatWasSealedIsWritten) {
    const auto map = [](int rights) {
        return mmap(nullptr, page, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    };
    void* const sealed = map(PROT_READ | PROT_WRITE);
    void* const never = map(PROT_READ);
    ASSERT_NE(sealed, MAP_FAILED);
    ASSERT_NE(never, MAP_FAILED);
    *static_cast<std::uint64_t*>(sealed) = 1;
    ASSERT_EQ(mprotect(sealed, page, PROT_READ), 0);
    const std::vector<Range> written = ProcessMemory(getpid()).written();
    EXPECT_TRUE(holds(written, sealed));
    EXPECT_FALSE(holds(written, never));
    munmap(sealed, page);
    munmap(never, page);
}

TEST(ProcessMemory, OfNoProcessIsAnError) {
    EXPECT_THROW(ProcessMemory(0x7FFF'FFFF), std::system_error);
}

/// Its times are 100 ns apart, and a tenth of the run is its teardown.
TEST(SearchTeardown, BlocksOfAFreedTableAreNotLost) {
    LiveTrace trace;
    trace.malloc(heap, 256);
    for (std::uint64_t i = 1; i <= 20; ++i) {
        trace.malloc(heap + page + i * 64, 32);
    }
    LiveBlocks live = trace.free(heap).live();
    MadeUp memory = program();
    for (std::uint64_t i = 3; i <= 20; ++i) { // the allocator has written over the first words
        memory.put(heap + i * 8, heap + page + i * 64);
    }
    search(memory, {}, live);
    EXPECT_EQ(reached(live), std::vector<bool>(20, false));
    searchTeardown(memory, live);
    EXPECT_EQ(reached(live), std::vector<bool>(20, true)) << "two of twenty are nearly none";
}

TEST(SearchTeardown, ATableThatWasFreedEarlierLeadsToNothing) {
    LiveTrace trace;
    trace.malloc(heap, 256).free(heap);
    for (std::uint64_t i = 1; i <= 20; ++i) {
        trace.malloc(heap + page + i * 64, 32);
    }
    LiveBlocks live = trace.live();
    MadeUp memory = program();
    memory.put(heap + 64, heap + page + 64);
    search(memory, {}, live);
    searchTeardown(memory, live);
    EXPECT_EQ(reached(live), std::vector<bool>(20, false));
}

TEST(SearchTeardown, ABlockThatWasUnmappedLeadsOnByItsKeptContents) {
    constexpr std::uint64_t table = 0x7100'0000'0000;
    constexpr std::uint64_t copy = 0x7200'0000'0010;
    LiveBlocks live = LiveTrace().malloc(heap, 32).malloc(table + 16, 256).free(table + 16).live();
    MadeUp memory = program(); // the table is no longer mapped
    memory.map({copy - 16, copy - 16 + page}, false);
    memory.put(copy + 248, heap);
    search(memory, {}, live);
    searchTeardown(memory, live);
    EXPECT_EQ(reached(live), std::vector<bool>{false});
    searchTeardown(memory, live, {{table + 16, copy}});
    EXPECT_EQ(reached(live), std::vector<bool>{true});
}

TEST(KeptBlocks, AreReadFromATableInTheRecordersMemory) {
    constexpr std::uint64_t first = 0x6000'0000'0000;
    constexpr std::uint64_t second = 0x6100'0000'0000;
    MadeUp memory;
    memory.map({first, first + page}, true);
    memory.map({second, second + page}, true);
    memory.put(first, 0x1234); // other memory of the recorder
    memory.put(second, HEAPWRIGHT_KEPT_MAGIC);
    memory.put(second + 8, 2);
    const std::uint64_t blocks[] = {heap, second + page, 64, heap, second + 2 * page, 64};
    for (std::size_t word = 0; word < std::size(blocks); ++word) {
        memory.put(second + 16 + 8 * word, blocks[word]);
    }
    const Kept kept = keptBlocks(memory, {{first, first + page}, {second, second + page}});
    EXPECT_EQ(kept, (Kept{{heap, second + 2 * page}})) << "the newer one of two";
}

TEST(Search, ABlockThatShrankInPlaceKeepsItsAge) {
    const LiveBlocks live = LiveTrace().malloc(heap, 64).realloc(heap, heap, 32).live();
    ASSERT_EQ(live.blocks().size(), 1u);
    EXPECT_EQ(live.blocks()[0].size, 32u);
    EXPECT_EQ(live.blocks()[0].born, 100u);
}

} // namespace
} // namespace heapwright::leakscan
