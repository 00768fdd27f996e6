// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the events of one block: the inverse of encoder.hpp. It trusts no input. Every field is
// read inside the payload (near its end from a copy padded with zeros). An event that does not fit,
// or that no encoder writes, ends the block with a place and a reason.
// Cost: about thirty instructions per event.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "trace/call.hpp"
#include "trace/coding.hpp"
#include "trace/event.hpp"
#include "trace/layout.hpp"

namespace heapwright::trace {

class BlockDecoder {
public:
    /// `zeroEnds`: a zero tag is where the events end, as in open blocks; otherwise it is damage.
    /// `stackBits` as the block's header has it, but at most mostStackBits.
    void begin(std::span<const std::byte> payload, unsigned stackBits, bool zeroEnds,
               std::uint64_t firstTime);

    /// The next event, its times in ticks since the trace's start; process and thread are not set.
    /// False at the end, or where the events go wrong: then `wrong()` says what.
    bool next(Event& event) noexcept;

    /// Decodes frequent calls: malloc, operator new and their frees, of small sizes or known
    /// shapes. Returns the number of calls, at most `most`. `perTick` converts ticks to ns, as
    /// `Trace::perTick`. `lastTime`, in ns, is the time of the previous call, and then of the last
    /// one. The caller reads the call that stopped it with `next`.
    std::size_t plain(Call* calls, std::size_t most, std::uint64_t perTick,
                      std::uint64_t& lastTime) noexcept;

    const char* wrong() const noexcept { return wrong_; }
    /// Bytes of the payload that are decoded.
    std::size_t position() const noexcept {
        return static_cast<std::size_t>(at_ - start_) + moved_;
    }

private:
    static std::uint64_t load(const std::byte* from) noexcept {
        std::uint64_t value = 0;
        std::memcpy(&value, from, sizeof value);
        return value;
    }

    std::uint64_t field(unsigned code) noexcept {
        const unsigned length = coding::lengthOf(code);
        const std::uint64_t value = load(at_) & (~std::uint64_t{0} >> (64 - 8 * length));
        at_ += length;
        return value;
    }

    std::uint64_t bytes(unsigned count) noexcept {
        const std::uint64_t value = load(at_) & ((std::uint64_t{1} << (8 * count)) - 1);
        at_ += count;
        return value;
    }

    /// `unaligned`: not a multiple of 16. `far`: with stacks, of eight bytes.
    std::uint64_t address(unsigned code, bool unaligned, bool far = false) noexcept {
        if (!withStacks_) [[likely]]
            return addressFrom(code, unaligned);
        const std::uint64_t value = code == 0 && !far
                                        ? tables_.address(static_cast<unsigned>(bytes(1)))
                                        : addressFrom(code, unaligned);
        base_ = value & ~std::uint64_t{coding::grain - 1};
        tables_.remember(coding::StackTables::addressPlace(value), value);
        return value;
    }

    std::uint64_t addressFrom(unsigned code, bool whole) noexcept {
        const std::int64_t difference = coding::unzigzag(field(code));
        const auto moved = static_cast<std::uint64_t>(difference) << (whole ? 0 : 4);
        const std::uint64_t value = base_ + moved;
        base_ = value & ~std::uint64_t{coding::grain - 1};
        return value;
    }

    template <bool stacks>
    std::size_t plainCalls(Call* calls, std::size_t most, std::uint64_t perTick,
                           std::uint64_t& lastTime) noexcept;
    template <bool stacks>
    coding::Shape tellShape(const std::byte*& from, unsigned way) noexcept;
    bool decode(Event& event) noexcept;
    bool decodeOther(Event& event, unsigned tag) noexcept;
    void shape(Event& event, unsigned way) noexcept;
    void newShape(Event& event, unsigned way) noexcept;
    void newStack(Event& event, unsigned way) noexcept;
    coding::Shape smallShape() noexcept;
    void alignment(Event& event) noexcept;
    bool nearEnd(Event& event) noexcept;
    bool fail(const char* what) noexcept {
        wrong_ = what;
        return false;
    }

    const std::byte* at_ = nullptr;
    const std::byte* end_ = nullptr;  ///< of the payload, or of its copy
    const std::byte* safe_ = nullptr; ///< up to here a whole event can be read
    const std::byte* start_ = nullptr;
    std::size_t moved_ = 0; ///< bytes of the payload before `start_`
    std::uint64_t time_ = 0;
    std::uint64_t base_ = 0;
    const char* wrong_ = nullptr;
    bool withStacks_ = false;
    bool zeroEnds_ = false;
    coding::ShapeTable shapes_;
    coding::StackTables tables_{};
    std::vector<std::uint64_t> memory_; ///< of `tables_`
    std::byte tail_[2 * maxEventSize];
};

inline bool BlockDecoder::next(Event& event) noexcept {
    if (at_ < safe_) [[likely]]
        return decode(event);
    return nearEnd(event);
}

inline void BlockDecoder::shape(Event& event, unsigned way) noexcept {
    if (way != coding::shapeKnown) [[unlikely]] {
        withStacks_ ? newStack(event, way) : newShape(event, way);
        return;
    }
    const coding::Shape& known = shapes_.at(static_cast<unsigned>(*at_++));
    event.size = known.size;
    event.usable = known.usable;
    event.stack = known.stack;
}

inline bool BlockDecoder::decode(Event& event) noexcept {
    const auto tag = static_cast<unsigned>(*at_);
    const unsigned form = tag & 3;
    if (tag == 0) [[unlikely]]
        return zeroEnds_ ? false : fail("an event without a tag");
    ++at_;
    event.old = 0;
    event.alignment = 0;
    if (form == coding::formOther) [[unlikely]]
        return decodeOther(event, tag);
    time_ += field((tag >> coding::timeShift) & 3);
    event.time = event.began = time_;
    const unsigned way = tag >> coding::shapeShift;
    if (form == coding::formFree) {
        constexpr Routine frees[] = {Routine::free, Routine::free, Routine::operatorDelete,
                                     Routine::operatorDeleteSized};
        event.routine = frees[way];
        event.size = event.usable = 0;
        event.stack = 0;
        event.address =
            way == coding::freeNull ? 0 : address((tag >> coding::addressShift) & 3, false);
        return true;
    }
    event.routine = form == coding::formMalloc ? Routine::malloc : Routine::operatorNew;
    event.address = address((tag >> coding::addressShift) & 3, false);
    shape(event, way);
    return true;
}

} // namespace heapwright::trace
