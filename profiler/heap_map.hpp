// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Where in the address space the live blocks of a process stand, over time: live bytes for each
// page group, looked at in even steps of time. Page groups begin at 4 KiB and double, and steps of
// time double, whenever there would be too many, so that the memory is fixed. Large blocks are kept
// one by one and laid over the groups when they are looked at, so that no call costs their length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "profiler/json.hpp"

namespace heapwright::profile {

class HeapMap {
public:
    HeapMap(std::uint32_t process, std::uint64_t duration);

    std::uint32_t process() const { return process_; }

    /// To be called before anything changes at `time`.
    void advance(std::uint64_t time) {
        if (time >= end_) [[unlikely]]
            step(time);
    }
    void began(std::uint64_t address, std::uint64_t size) {
        if (size >= large) [[unlikely]]
            keepLarge(address, size);
        else
            add(address, size);
    }
    void ended(std::uint64_t address, std::uint64_t size) {
        if (size >= large) [[unlikely]]
            large_.erase(address);
        else
            add(address, size, true);
    }
    void finish(std::uint64_t time);

    void write(Json& json) const;

private:
    static constexpr std::uint64_t large = 64 << 10;
    static constexpr std::uint64_t highest = std::uint64_t{1} << 57; ///< no user address is higher
    static constexpr std::size_t mostColumns = 160;
    static constexpr std::size_t mostGroups = 8192;
    static constexpr std::size_t mostRows = 200;

    /// Live bytes by page group, in order.
    using Column = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
    /// Rows that are written: so many page groups from a first one on.
    struct Rows {
        std::uint64_t groups; ///< that make one row
        std::vector<std::uint64_t> first;
    };

    struct Group {
        std::uint64_t number = emptyGroup;
        std::uint64_t live = 0;
    };
    static constexpr std::uint64_t emptyGroup = UINT64_MAX;

    void add(std::uint64_t address, std::uint64_t size, bool gone = false) {
        const std::uint64_t last = (address + size - 1) >> shift_;
        std::uint64_t group = address >> shift_;
        if (group >= last) [[likely]] { // also a block of no bytes
            change(group, size, gone);
            return;
        }
        spread(address, size, gone);
    }
    void change(std::uint64_t group, std::uint64_t bytes, bool gone);
    void spread(std::uint64_t address, std::uint64_t size, bool gone);
    Group& find(std::uint64_t group);
    void makeRoom();
    void coarsen();
    void rebuild(const std::vector<Group>& old, bool halved);
    void keepLarge(std::uint64_t address, std::uint64_t size);
    void step(std::uint64_t time);
    void fold();
    Column look();
    static void halve(Column& column);
    std::vector<std::uint64_t> everUsed() const;
    Rows rows() const;

    std::uint32_t process_;
    std::uint64_t step_;
    std::uint64_t end_;
    std::uint64_t lastTime_ = 0;
    unsigned shift_ = 12; ///< a page group is 2^shift_ bytes
    std::size_t used_ = 0;
    std::vector<Group> groups_; ///< hashed
    std::map<std::uint64_t, std::uint64_t> large_;
    std::vector<Column> columns_;
};

} // namespace heapwright::profile
