// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Joins what the system saw of a process with what was live at the same moment. The process's
// mappings that are heap are found from the blocks. A writable mapping in which a block was
// returned counts as heap, with all of it. So resident memory has four parts: Live bytes, the bytes
// that blocks were rounded up by, what the allocator holds beyond that, and all else. The last part
// is code, stacks, the program's own caches, and mappings of an allocator that hold only its
// records.
//
// Cost: for each event a comparison and an addition to the account of a mebibyte of addresses; for
// each sample a walk over its mappings. Memory: some 60 bytes for each mebibyte of addresses in
// which blocks stood, and a bounded number of rows.
#pragma once

#include "profiler/json.hpp"
#include "trace/reader.hpp"
#include "trace/system.hpp"

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
    std::uint64_t usable = 0;  ///< of live blocks
    std::uint64_t freeTop = 0; ///< mapped behind the last mebibyte in which a block is live
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

    void allocated(std::uint64_t address, std::uint64_t usable) {
        Mebibyte& account = at(address >> 20);
        account.usable += usable;
        account.pages[(address >> 12) & 255] = true;
    }

    void freed(std::uint64_t address, std::uint64_t usable) {
        Mebibyte& account = at(address >> 20);
        account.usable -= usable < account.usable ? usable : account.usable;
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

    /// glibc gives a large block a mapping of its own and puts a header of 16 bytes before it.
    static bool hasItsMapping(std::uint64_t address) { return address % 4096 == 16; }

    /// The account of one mebibyte of addresses.
    struct Mebibyte {
        std::uint64_t usable = 0; ///< of the live blocks that begin there
        std::bitset<256> pages;   ///< in which blocks began
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

    std::vector<std::string> objects() const;
    void decode();
    void take(std::uint64_t live, std::uint64_t usable);
    void readRecorderMemory(std::uint32_t process);
    std::uint64_t ofRecorder(const trace::SystemMapping& mapping) const;
    bool isHeap(const trace::SystemMapping& mapping) const;
    void forgetUnmapped(const std::vector<trace::SystemMapping>& mappings);
    void addTo(HeapPlace& place, const trace::SystemMapping& mapping) const;
    void noteMostHeld(std::uint64_t time, std::uint64_t usable);
    void keep(const SystemRow& row);

    const trace::Trace* trace_;
    std::vector<trace::Record> records_;
    std::vector<trace::RecorderMemory> recorderMemory_;
    std::size_t record_ = 0;
    trace::SystemDecoder decoder_;
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
