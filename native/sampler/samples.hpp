// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The sampled blocks that are live, and the counts of all samples by stack, label and size. Both
// tables have a fixed size. A sample without room is counted as lost.
//
// Two words can be read without the lock. A byte of the filter is 0 if no live sampled block has an
// address of its group. Groups of neighbour addresses have neighbour bytes, so `free` stays in few
// lines of the processor's cache. `find` then decides.
//
// Invariant: an entry does not move while its block is live. A place that another block passed
// while it searched becomes `gone`, not empty. So a thread finds its own block without the lock.
// The thread that frees a block has received its address after the block was noted.
#pragma once

#include <heapwright/core/address.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::sampler {

/// All samples of one size, from one stack, under one label.
struct Record {
    std::uint64_t size;
    std::uint64_t live;
    std::uint64_t made;
    std::uint64_t atPeak; ///< live when `notePeak` was last called
    std::uint32_t stack;
    std::uint32_t label;
};

class Samples {
public:
    static constexpr std::size_t places = std::size_t{1} << 17U;
    static constexpr std::size_t mostLive = places / 4 * 3;
    static constexpr std::size_t mostRecords = std::size_t{1} << 16U;
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// Whether a block may be a live sample. Any thread may ask.
    [[nodiscard, gnu::always_inline]] bool mayHold(const void* block) const noexcept {
        return filter_[groupOf(block)].load(std::memory_order_relaxed) != 0;
    }

    /// The place of a block that the calling thread owns; `none` if it is no sample. No lock.
    [[nodiscard]] std::uint32_t find(const void* block) const noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(block);
        if (address <= gone) {
            return none; // free(NULL): an empty place is no sample
        }
        for (std::size_t place = placeOf(address), tries = 0; tries < places;
             place = (place + 1) % places, ++tries) {
            const std::uintptr_t there = live_[place].block.load(std::memory_order_acquire);
            if (there == address) {
                return static_cast<std::uint32_t>(place);
            }
            if (there == empty) {
                break;
            }
        }
        return none;
    }

    /// Notes a sample. False: there is no room. Pre: the caller has the lock.
    bool add(const void* block, const Record& sample) noexcept {
        const std::uint32_t record = recordOf(sample);
        if (record == none) {
            return false;
        }
        ++records_[record].made;
        return revive(block, record);
    }

    /// Makes a block live again whose record is known, after a realloc that failed.
    bool revive(const void* block, std::uint32_t record) noexcept {
        if (count_ >= mostLive) {
            return false;
        }
        const auto address = reinterpret_cast<std::uintptr_t>(block);
        std::size_t place = placeOf(address);
        while (live_[place].block.load(std::memory_order_relaxed) > gone) {
            place = (place + 1) % places;
        }
        live_[place].record = record;
        live_[place].block.store(address, std::memory_order_release);
        ++count_;
        ++records_[record].live;
        std::atomic<std::uint8_t>& group = filter_[groupOf(block)];
        const std::uint8_t before = group.load(std::memory_order_relaxed);
        if (before != stuck) {
            group.store(static_cast<std::uint8_t>(before + 1), std::memory_order_relaxed);
        }
        return true;
    }

    /// Ends a sample; its record. Pre: the caller has the lock, and `place` was found.
    std::uint32_t remove(const void* block, std::uint32_t place) noexcept {
        const std::uint32_t record = live_[place].record;
        --records_[record].live;
        --count_;
        live_[place].block.store(gone, std::memory_order_release);
        // Places before an empty one are passed by no search, so they become empty again.
        std::size_t each = place;
        while (live_[(each + 1) % places].block.load(std::memory_order_relaxed) == empty &&
               live_[each].block.load(std::memory_order_relaxed) == gone) {
            live_[each].block.store(empty, std::memory_order_release);
            each = (each + places - 1) % places;
        }
        std::atomic<std::uint8_t>& group = filter_[groupOf(block)];
        const std::uint8_t before = group.load(std::memory_order_relaxed);
        if (before != stuck) {
            group.store(static_cast<std::uint8_t>(before - 1), std::memory_order_relaxed);
        }
        return record;
    }

    /// From now on `mayHold` is true for all addresses of an area.
    void alwaysHold(const char* begin, std::size_t bytes) noexcept {
        for (std::size_t at = 0; at < bytes; at += std::size_t{1} << groupShift) {
            filter_[groupOf(begin + at)].store(stuck, std::memory_order_relaxed);
        }
    }

    /// What is live now was live at the peak. Pre: the caller has the lock.
    void notePeak() noexcept {
        for (std::size_t i = 0; i < recordCount_; ++i) {
            records_[i].atPeak = records_[i].live;
        }
    }

    /// In a forked child: its samples are live, but the parent has made them.
    void forgetMade() noexcept {
        for (std::size_t i = 0; i < recordCount_; ++i) {
            records_[i].made = 0;
        }
    }

    [[nodiscard]] const Record* records() const noexcept { return records_.data(); }
    [[nodiscard]] std::size_t recordCount() const noexcept { return recordCount_; }
    [[nodiscard]] const Record& record(std::uint32_t number) const noexcept {
        return records_[number];
    }

private:
    struct Live {
        std::atomic<std::uintptr_t> block;
        std::uint32_t record;
    };

    static constexpr std::uintptr_t empty = 0;
    static constexpr std::uintptr_t gone = 1;
    static constexpr std::uint8_t stuck = 255; ///< a count that is no longer known
    static constexpr unsigned groupShift = 4;
    static constexpr std::size_t groups = std::size_t{1} << 18U;

    static std::size_t groupOf(const void* block) noexcept {
        return (reinterpret_cast<std::uintptr_t>(block) >> groupShift) % groups;
    }
    static std::uint64_t mixed(std::uint64_t value) noexcept {
        return (value * 0x9E3779B97F4A7C15U) >> 32U;
    }
    static std::size_t placeOf(std::uintptr_t address) noexcept {
        return mixed(address >> 3U) % places;
    }

    std::uint32_t recordOf(const Record& sample) noexcept {
        const std::uint64_t key =
            mixed(sample.size ^ (std::uint64_t{sample.stack} << 32U)) ^ sample.label;
        std::size_t place = mixed(key) % index_.size();
        for (; index_[place] != 0; place = (place + 1) % index_.size()) {
            const Record& there = records_[index_[place] - 1];
            if (there.size == sample.size && there.stack == sample.stack &&
                there.label == sample.label) {
                return index_[place] - 1;
            }
        }
        if (recordCount_ == mostRecords) {
            return none;
        }
        records_[recordCount_] = {sample.size, 0, 0, 0, sample.stack, sample.label};
        index_[place] = static_cast<std::uint32_t>(++recordCount_);
        return index_[place] - 1;
    }

    std::array<std::atomic<std::uint8_t>, groups> filter_{};
    std::array<Live, places> live_{};
    std::array<Record, mostRecords> records_{};
    std::array<std::uint32_t, mostRecords * 2> index_{}; ///< of `records_`, plus 1
    std::size_t recordCount_ = 0;
    std::size_t count_ = 0;
};

} // namespace heapwright::sampler
