// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Joins what the system saw of a process with what was live at the same moment. The process's
// mappings that are heap are found from the blocks. A writable mapping in which a block was
// returned counts as heap, with all of it. The exceptions are mappings in which each block had a
// mapping of its own. The system merges these with mappings of the program beside them, so only the
// live blocks count. So resident memory has four parts: Live bytes, the bytes that blocks were
// rounded up by, what the allocator holds beyond that, and all else. The last part
// is code, stacks, the program's own caches, and mappings of an allocator that hold only its
// records.
//
// Cost: for each event a comparison, and additions to the account of a mebibyte of addresses. For
// each sample a walk over its mappings. For each new maximum of held memory a walk over the
// accounts. Memory: some 600 bytes for each mebibyte of addresses in which blocks stood, and a
// bounded number of rows.
#pragma once

#include "profiler/json.hpp"
#include "profiler/spans.hpp"
#include "profiler/thread_caches.hpp"
#include "trace/reader.hpp"
#include "trace/system.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heapwright::profiler {

/// One sample, joined. Bytes.
struct SystemRow {
    std::uint64_t time = 0; ///< ns since the trace began
    std::uint64_t live = 0;
    std::uint64_t waste = 0;
    std::uint64_t held = 0;
    std::uint64_t lazy = 0;
    std::uint64_t other = 0;
    std::uint64_t code = 0; ///< of the others: what cannot be written
    std::uint64_t heapMapped = 0;
    std::uint64_t heapResident = 0;
    std::uint64_t resident = 0; ///< without what is the recorder's
    std::uint64_t recorder = 0;
};

/// Heap mappings of one kind, together.
struct HeapPlace {
    std::uint64_t mappings = 0;
    std::uint64_t mapped = 0;
    std::uint64_t resident = 0;
    std::uint64_t usable = 0;    ///< of live blocks
    std::uint64_t pinned = 0;    ///< in the spans in which a block is live
    std::uint64_t freeTop = 0;   ///< mapped behind the last page in which a block is live
    std::uint64_t cachedTop = 0; ///< of `freeTop`: up to the last block in the cache of a thread
    std::uint64_t fastTop = 0;   ///< of `freeTop`: up to the last block that glibc did not merge
};

/// Where memory was when the allocator held most.
struct MostHeld {
    std::uint64_t time = 0;
    HeapPlace programBreak;
    HeapPlace arenas; ///< begin on a multiple of 64 MiB, as the C library's further arenas do
    HeapPlace mapped;
    std::uint64_t largestUnmapped =
        0; ///< of the blocks with a mapping each that were freed by then
};

class SystemView {
public:
    SystemView(const trace::Trace& trace, std::uint32_t process);

    /// Whether there is any sample of the process.
    bool present() const { return nextTime_ != never || !rows_.empty(); }

    /// When the next sample was taken: before an event that is not earlier `advance` has work.
    std::uint64_t next() const { return nextTime_; }

    /// Before the event at `time` is applied: what was live until then, requested and usable.
    void advance(std::uint64_t time, std::uint64_t live, std::uint64_t usable) {
        while (time >= nextTime_) {
            take(live, usable);
        }
    }

    void allocated(std::uint64_t address, std::uint64_t usable, std::uint32_t thread) {
        Mebibyte& account = at(address >> 20);
        account.usable += usable;
        account.pages[(address >> 12) & 255] = true;
        if (usable < leastMapped || !hasItsMapping(address)) {
            account.shared[(address >> 12) & 255] = true;
        }
        pin(spans_.of(address, usable), 1);
        caches_.allocated(address, usable, thread);
        mergings_ += usable >= leastMerging ? 1 : 0;
    }

    void freed(std::uint64_t address, std::uint64_t usable, std::uint32_t thread) {
        Mebibyte& account = at(address >> 20);
        account.usable -= usable < account.usable ? usable : account.usable;
        pin(spans_.of(address, usable), -1);
        const bool cached = caches_.freed(address, usable, thread, ++frees_);
        if (!cached && usable <= mostFast) {
            if (account.mergings != mergings_ || address > account.lastFast.address) {
                account.lastFast = {address, frees_};
            }
            account.mergings = mergings_;
        }
        if (usable >= leastMapped && usable > largestUnmapped_ && hasItsMapping(address))
            [[unlikely]] {
            largestUnmapped_ = usable;
        }
    }

    /// After the last event.
    void finish(std::uint64_t live, std::uint64_t usable) { advance(never - 1, live, usable); }

    const std::vector<SystemRow>& rows() const { return rows_; } ///< 1,000 at most, in time
    const MostHeld& mostHeld() const { return mostHeld_; }
    /// The value of the profile's `system`: what is documented there.
    void write(Json& json) const;

private:
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    static constexpr std::uint64_t leastMapped = 124 << 10; ///< bytes
    /// Usable bytes. glibc does not merge a freed block up to this size with free memory.
    static constexpr std::uint64_t mostFast = 120;
    /// Usable bytes. A request from this size on makes glibc merge all of those.
    static constexpr std::uint64_t leastMerging = 1016;

    /// glibc gives a large block a mapping of its own and puts a header of 16 bytes before it.
    static bool hasItsMapping(std::uint64_t address) { return address % 4096 == 16; }

    struct FreedBlock {
        std::uint64_t address = 0;
        std::uint64_t order = never; ///< number of the free
    };
    /// The account of one mebibyte of addresses.
    struct Mebibyte {
        std::uint64_t usable = 0;   ///< of the live blocks that begin there
        FreedBlock lastFast;        ///< the last in it that glibc did not merge
        std::uint64_t mergings = 0; ///< that there had been when it was freed
        std::bitset<256> pages;     ///< in which blocks began
        std::bitset<256> shared;    ///< of them: in which a block without its own mapping began
        /// Live spans that begin with a page, less those that ended with the page before it.
        std::array<std::int16_t, 256> pinned{};
    };
    struct Place {
        std::uint64_t number = never;
        Mebibyte* account = nullptr;
    };

    Mebibyte& at(std::uint64_t number) {
        const Place& place = recent_[number % recent_.size()];
        return place.number == number ? *place.account : remember(number);
    }
    [[gnu::noinline]] Mebibyte& remember(std::uint64_t number) {
        Mebibyte& account = accounts_[number];
        recent_[number % recent_.size()] = {number, &account};
        return account;
    }

    /// Adds a live span, or takes it away.
    void pin(const Span& span, int by) {
        add(span.begin, by);
        add(span.end, -by);
    }

    void add(std::uint64_t address, int by) {
        std::int16_t& sum = at(address >> 20).pinned[(address >> 12) & 255];
        sum = static_cast<std::int16_t>(sum + by);
    }

    std::vector<std::string> objects() const;
    void decode();
    void take(std::uint64_t live, std::uint64_t usable);
    void readRecorderMemory(std::uint32_t process);
    std::uint64_t ofRecorder(const trace::SystemMapping& mapping) const;
    using Pages = std::bitset<256> Mebibyte::*;
    bool hasAny(Pages pages, const trace::SystemMapping& mapping) const;
    void countHeap(SystemRow& row, const trace::SystemMapping& mapping,
                   std::vector<Span>& pinned) const;
    void forgetUnmapped(const std::vector<trace::SystemMapping>& mappings);
    std::vector<Span> pinnedSpans() const;
    void addTo(HeapPlace& place, const trace::SystemMapping& mapping,
               const std::vector<Span>& pinned) const;
    FreedBlock lastFast(std::uint64_t begin, std::uint64_t end) const;
    void noteMostHeld(std::uint64_t time, std::uint64_t usable);
    void keep(const SystemRow& row);

    const trace::Trace* trace_;
    std::vector<trace::Record> records_;
    std::vector<trace::RecorderMemory> recorderMemory_;
    std::size_t record_ = 0;
    trace::SystemDecoder decoder_;
    Spans spans_;
    ThreadCaches caches_;
    std::uint64_t frees_ = 0;
    std::uint64_t mergings_ = 0;     ///< requests so far that made glibc merge
    std::uint64_t nextTime_ = never; ///< of the sample that is decoded and not yet taken
    std::map<std::uint64_t, Mebibyte> accounts_;
    std::array<Place, 1024> recent_{};
    std::vector<trace::SystemMapping> heaps_; ///< of the current sample
    std::vector<SystemRow> rows_;
    std::size_t perRow_ = 1; ///< samples that make a row
    std::size_t inRow_ = 0;  ///< of them, in the last row so far
    MostHeld mostHeld_;
    std::uint64_t held_ = 0;
    std::uint64_t largestUnmapped_ = 0;
    std::uint64_t mostMapped_ = 0;
    std::uint64_t mostLive_ = 0;
};

} // namespace heapwright::profiler
