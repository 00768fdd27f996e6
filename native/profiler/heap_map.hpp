// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The addresses of a process's live blocks over time. The map has the live bytes of each page
// group, sampled in even steps of time. Page groups begin at 4 KiB and double, and steps of time
// double, whenever there would be too many, so that the memory is fixed. Large blocks are kept one
// by one and added to the groups at each sample, so that no call costs their length. The group of a
// small block is found in two look-ups.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "profiler/json.hpp"

namespace heapwright::profiler {

class HeapMap {
public:
    HeapMap(std::uint32_t process, std::uint64_t duration);

    std::uint32_t process() const { return process_; }

    /// The first time at which something is to be looked at before it changes.
    std::uint64_t next() const { return end_; }
    /// To be called before anything changes at `time`.
    void advance(std::uint64_t time) {
        if (time >= end_) [[unlikely]]
            step(time);
    }
    void began(std::uint64_t address, std::uint64_t size) {
        if (size >= large) [[unlikely]]
            keepLarge(address, size);
        else
            add(address, size, size);
    }
    void ended(std::uint64_t address, std::uint64_t size) {
        if (size >= large) [[unlikely]]
            large_.erase(address);
        else
            add(address, size, 0 - size);
    }
    void finish(std::uint64_t time);

    void write(Json& json) const;

private:
    static constexpr std::uint64_t large = 64 << 10;
    static constexpr std::uint64_t highest = std::uint64_t{1} << 57; ///< no user address is higher
    static constexpr std::size_t mostColumns = 160;
    static constexpr std::size_t mostGroups = 8192; ///< of a column
    static constexpr std::size_t mostRows = 200;
    static constexpr std::size_t mostRegions = 8192;
    static constexpr unsigned regionBits = 8;
    static constexpr std::uint64_t groupMask = (1 << regionBits) - 1;

    /// Live bytes by page group, in order.
    using Column = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
    /// The rows to write. Each has `groups` page groups, from its element of `first` on.
    struct Rows {
        std::uint64_t groups; ///< that make one row
        std::vector<std::uint64_t> first;
    };
    /// Live bytes of neighbouring page groups.
    using Region = std::array<std::uint64_t, 1 << regionBits>;
    /// Where a region is.
    struct Place {
        std::uint64_t number = nowhere;
        Region* region = nullptr;
    };
    static constexpr std::uint64_t nowhere = UINT64_MAX;

    /// `bytes` modulo 2^64: what goes is added as its negative.
    void add(std::uint64_t address, std::uint64_t size, std::uint64_t bytes) {
        const std::uint64_t last = (address + size - 1) >> shift_;
        const std::uint64_t group = address >> shift_;
        const std::uint64_t number = group >> regionBits;
        const Place& place = recent_[number % recent_.size()];
        if (group >= last && place.number == number) [[likely]]
            (*place.region)[group & groupMask] += bytes;
        else
            spread(address, size, bytes != size);
    }
    std::size_t homeOf(std::uint64_t number) const {
        return static_cast<std::size_t>(number * 0x9E37'79B9'7F4A'7C15U >> 40) &
               (places_.size() - 1);
    }
    void spread(std::uint64_t address, std::uint64_t size, bool gone);
    void change(std::uint64_t group, std::uint64_t bytes, bool gone);
    Region& find(std::uint64_t number);
    Region& enter(std::uint64_t number, std::unique_ptr<Region> region);
    void forgetAll();
    void makeRoom();
    void coarsen();
    std::vector<Place> inOrder() const;
    void keepLarge(std::uint64_t address, std::uint64_t size);
    void step(std::uint64_t time);
    void fold();
    Column look();
    void smallBlocks(Column& column) const;
    void largeBlocks(Column& column) const;
    static void halve(Column& column);
    std::vector<std::uint64_t> everUsed() const;
    Rows rows() const;

    std::uint32_t process_;
    std::uint64_t step_;
    std::uint64_t end_;
    std::uint64_t lastTime_ = 0;
    unsigned shift_ = 12;            ///< a page group is 2^shift_ bytes
    std::array<Place, 1024> recent_; ///< of the regions that were found lately
    std::vector<Place> places_;      ///< hashed, at most a quarter full
    std::vector<std::unique_ptr<Region>> regions_;
    std::map<std::uint64_t, std::uint64_t> large_;
    std::vector<Column> columns_;
    Column small_; ///< the parts of the last column
    Column ofLarge_;
};

} // namespace heapwright::profiler
