// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes events into a claimed block. Every recorded call runs this code. It has no allocation, no
// lock and no function call. Fields are stored eight bytes at a time, and the cursor then moves by
// their real length. Thus only zeros follow the cursor. The tag is stored last. A reader that finds
// a nonzero tag finds the event whole, even if the writer was killed. The first zero tag is the end
// of an open block.
//
// Invariant: a zero-initialised Encoder has no block. One thread uses it.
// Cost: about forty instructions for a frequent call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "trace/checksum.hpp"
#include "trace/coding.hpp"
#include "trace/layout.hpp"

namespace heapwright::trace {

/// What a block's header is to say.
struct BlockStart {
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint32_t sequence = 0;
    std::uint32_t threadId = 0;
    std::uint8_t sizeShift = 0;
    std::uint8_t stackBits = 0;   ///< BlockHeader::stackBits
    std::uint64_t startTicks = 0; ///< FileHeader::startTicks
    /// With stacks coding::StackTables::bytes of memory, for as long as the block is open.
    void* tables = nullptr;
};

class Encoder {
public:
    /// Begins a block in memory that is zero. Times are the clock's ticks, as the caller reads
    /// them.
    void open(void* memory, const BlockStart& start, std::uint64_t now) noexcept;
    /// Ends it: counts, last time and checksum. The encoder is without a block then.
    void seal(bool threadEnded = false) noexcept;
    /// Forgets the block as it is (in a forked child: it is the parent's).
    void abandon() noexcept { cursor_ = limit_ = nullptr; }

    /// Whether one more event fits. Call it before each event. False without a block.
    bool hasRoom() const noexcept { return cursor_ < limit_; }
    BlockHeader* block() const noexcept { return cursor_ == nullptr ? nullptr : block_; }
    std::uint32_t events() const noexcept { return events_; }
    std::size_t used() const noexcept { ///< bytes of payload
        return static_cast<std::size_t>(cursor_ - reinterpret_cast<std::byte*>(block_ + 1));
    }
    void lost(std::uint32_t count) noexcept { block_->lost += count; }

    /// An allocation that has returned; not realloc. `time` in ticks.
    void allocated(Routine routine, std::uint64_t time, std::uint64_t address, std::uint64_t size,
                   std::uint64_t usable, std::uint32_t stack = 0,
                   std::uint64_t alignment = 0) noexcept {
        if (withStacks_)
            allocation<true>(routine, time, address, {size, usable, alignment, stack});
        else
            allocation<false>(routine, time, address, {size, usable, alignment, 0});
    }

    /// A free that is about to happen.
    void freed(Routine routine, std::uint64_t time, std::uint64_t address) noexcept {
        if (withStacks_)
            release<true>(routine, time, address);
        else
            release<false>(routine, time, address);
    }

    /// The same in a block that is known to be without stacks.
    [[gnu::always_inline]] void allocatedPlainly(Routine routine, std::uint64_t time,
                                                 std::uint64_t address, std::uint64_t size,
                                                 std::uint64_t usable) noexcept {
        allocation<false>(routine, time, address, {size, usable, 0, 0});
    }
    [[gnu::always_inline]] void freedPlainly(Routine routine, std::uint64_t time,
                                             std::uint64_t address) noexcept {
        release<false>(routine, time, address);
    }

    /// A realloc that has returned.
    void reallocated(Routine routine, std::uint64_t began, std::uint64_t time, std::uint64_t old,
                     std::uint64_t address, std::uint64_t size, std::uint64_t usable,
                     std::uint32_t stack = 0) noexcept;

private:
    struct Rest {
        std::uint64_t size = 0;
        std::uint64_t usable = 0;
        std::uint64_t alignment = 0;
        std::uint32_t stack = 0;
    };

    template <bool stacks>
    [[gnu::always_inline]] void allocation(Routine routine, std::uint64_t time,
                                           std::uint64_t address, const Rest& rest) noexcept {
        const bool plain = routine == Routine::malloc || routine == Routine::operatorNew;
        if (!plain || address % coding::grain != 0 || (stacks && isFar(address))) [[unlikely]] {
            other(routine, time, address, rest);
            return;
        }
        std::byte* const tag = cursor_;
        std::byte* at = tag + 1;
        unsigned bits = routine == Routine::malloc ? coding::formMalloc : coding::formNew;
        bits |= putTime(at, time) << coding::timeShift;
        bits |= (stacks ? putRemembered(at, address) : putAddress(at, address))
                << coding::addressShift;
        if constexpr (stacks)
            finishStack(tag, at, bits, rest);
        else
            finishShape(tag, at, bits, rest);
    }

    template <bool stacks>
    [[gnu::always_inline]] void release(Routine routine, std::uint64_t time,
                                        std::uint64_t address) noexcept {
        if (address % coding::grain != 0 || address == 0 ||
            freeKind(routine) == coding::freeOther || (stacks && isFar(address))) [[unlikely]] {
            unusualFree(routine, time, address);
            return;
        }
        std::byte* const tag = cursor_;
        std::byte* at = tag + 1;
        unsigned bits = coding::formFree | (freeKind(routine) << coding::shapeShift);
        bits |= putTime(at, time) << coding::timeShift;
        bits |= (stacks ? putRemembered(at, address) : putAddress(at, address))
                << coding::addressShift;
        finish(tag, at, bits);
    }

    static constexpr unsigned freeKind(Routine routine) noexcept {
        if (routine == Routine::free)
            return coding::freePlain;
        if (routine == Routine::operatorDelete)
            return coding::freeDelete;
        return routine == Routine::operatorDeleteSized ? coding::freeDeleteSized
                                                       : coding::freeOther;
    }

    static void store(std::byte* at, std::uint64_t value) noexcept {
        std::memcpy(at, &value, sizeof value);
    }

    static unsigned putField(std::byte*& at, std::uint64_t value) noexcept {
        const std::size_t length = coding::fieldLength(value);
        store(at, value);
        at += length;
        return static_cast<unsigned>(length) & 3;
    }

    unsigned putTime(std::byte*& at, std::uint64_t time) noexcept {
        if (time < lastTime_) [[unlikely]] {
            ++block_->backwards;
            time = lastTime_;
        }
        const std::uint64_t passed = time - lastTime_;
        lastTime_ = time;
        return putField(at, passed);
    }

    std::uint64_t distance(std::uint64_t address) const noexcept {
        const auto difference = static_cast<std::int64_t>(address - base_);
        // A grain has four bits; one less is shifted out, which is the doubling of zigzag.
        const auto doubled = static_cast<std::uint64_t>(difference >> 3);
        return doubled ^ static_cast<std::uint64_t>(difference >> 63);
    }

    unsigned putAddress(std::byte*& at, std::uint64_t address) noexcept {
        const std::uint64_t far = distance(address);
        base_ = address;
        return putField(at, far);
    }

    /// Whether an address, of a block with stacks, needs eight bytes.
    bool isFar(std::uint64_t address) noexcept {
        const std::uint64_t far = address % coding::grain == 0
                                      ? distance(address)
                                      : coding::zigzag(static_cast<std::int64_t>(address - base_));
        return far >> 24 != 0 &&
               tables_.address(coding::StackTables::addressPlace(address)) != address;
    }

    /// An address of a block with stacks: 0 says that it is in the table, unless it is far.
    unsigned putRemembered(std::byte*& at, std::uint64_t address) noexcept {
        const unsigned place = coding::StackTables::addressPlace(address);
        const bool whole = address % coding::grain == 0;
        const std::uint64_t far =
            whole ? distance(address) : coding::zigzag(static_cast<std::int64_t>(address - base_));
        base_ = address & ~std::uint64_t{coding::grain - 1};
        if (far >> 8 != 0 && tables_.address(place) == address) {
            *at++ = static_cast<std::byte>(place);
            return 0;
        }
        tables_.remember(place, address);
        return putField(at, far);
    }

    unsigned putCrooked(std::byte*& at, std::uint64_t address) noexcept {
        const auto difference = static_cast<std::int64_t>(address - base_);
        base_ = address & ~std::uint64_t{coding::grain - 1};
        return putField(at, coding::zigzag(difference));
    }

    unsigned putAnyAddress(std::byte*& at, std::uint64_t address) noexcept {
        if (withStacks_)
            return putRemembered(at, address);
        return address % coding::grain == 0 ? putAddress(at, address) : putCrooked(at, address);
    }

    /// The shape, and the tag's bits with the way that it is said.
    [[gnu::always_inline]] void finishShape(std::byte* tag, std::byte* at, unsigned bits,
                                            const Rest& rest) noexcept {
        const unsigned place =
            coding::ShapeTable::place(static_cast<std::uint32_t>(rest.size), rest.stack);
        const coding::Shape& known = shapes_.at(place);
        if (known.size != rest.size || known.usable != rest.usable || known.stack != rest.stack)
            [[unlikely]] {
            finishNewShape(tag, at, bits, rest);
            return;
        }
        *at = static_cast<std::byte>(place);
        finish(tag, at + 1, bits | (coding::shapeKnown << coding::shapeShift));
    }

    /// The same in a block with stacks.
    [[gnu::always_inline]] void finishStack(std::byte* tag, std::byte* at, unsigned bits,
                                            const Rest& rest) noexcept {
        const std::uint32_t hash =
            coding::shapeHash(static_cast<std::uint32_t>(rest.size), rest.stack);
        const unsigned place = hash >> 24;
        const coding::Shape& known = shapes_.at(place);
        if (known.size != rest.size || known.usable != rest.usable || known.stack != rest.stack) {
            finishOtherStack(tag, at, bits, rest);
            return;
        }
        *at = static_cast<std::byte>(place);
        finish(tag, at + 1, bits | (coding::shapeKnown << coding::shapeShift));
    }

    void finish(std::byte* tag, std::byte* at, unsigned bits) noexcept {
        // The tag makes the event valid, so the fields must be there before it.
        std::atomic_ref<std::byte>(*tag).store(static_cast<std::byte>(bits),
                                               std::memory_order_release);
        cursor_ = at;
        ++events_;
    }

    [[gnu::cold]] void finishNewShape(std::byte* tag, std::byte* at, unsigned bits,
                                      Rest rest) noexcept;
    void finishOtherStack(std::byte* tag, std::byte* at, unsigned bits, Rest rest) noexcept;
    unsigned putSmallShape(std::byte*& at, const Rest& rest, std::uint64_t extra) noexcept;
    [[gnu::cold]] void putLargeShape(std::byte*& at, const Rest& rest) const noexcept;
    [[gnu::cold]] void other(Routine routine, std::uint64_t time, std::uint64_t address,
                             const Rest& rest) noexcept;
    [[gnu::cold]] void unusualFree(Routine routine, std::uint64_t time,
                                   std::uint64_t address) noexcept;
    static bool putAlignment(std::byte*& at, std::uint64_t alignment) noexcept;

    std::byte* cursor_;
    std::byte* limit_;
    std::uint64_t lastTime_;
    std::uint64_t base_;
    BlockHeader* block_;
    std::uint64_t startTicks_;
    std::uint32_t events_;
    bool withStacks_;
    coding::StackTables tables_;
    coding::ShapeTable shapes_;
};

inline void Encoder::open(void* memory, const BlockStart& start, std::uint64_t now) noexcept {
    auto* const bytes = static_cast<std::byte*>(memory);
    block_ = static_cast<BlockHeader*>(memory);
    *block_ = BlockHeader{};
    block_->kind = BlockKind::events;
    block_->sizeShift = start.sizeShift;
    block_->state = state::open;
    block_->stackBits = start.stackBits;
    block_->process = start.process;
    block_->thread = start.thread;
    block_->sequence = start.sequence;
    block_->threadId = start.threadId;
    block_->firstTime = now - start.startTicks;
    std::atomic_ref<std::uint32_t>(block_->magic).store(blockMagic, std::memory_order_release);
    cursor_ = bytes + sizeof(BlockHeader);
    limit_ = bytes + (pageSize << start.sizeShift) - maxEventSize;
    lastTime_ = now;
    base_ = 0;
    startTicks_ = start.startTicks;
    events_ = 0;
    withStacks_ = start.stackBits != 0;
    shapes_.clear();
    if (withStacks_)
        tables_.begin(start.tables, start.stackBits);
}

inline void Encoder::seal(bool threadEnded) noexcept {
    if (cursor_ == nullptr)
        return;
    auto* const payload = reinterpret_cast<std::byte*>(block_ + 1);
    const auto used = static_cast<std::uint64_t>(cursor_ - payload);
    block_->published = used | (std::uint64_t{events_} << 32);
    block_->lastTime = lastTime_ - startTicks_;
    BlockHeader sealed = *block_;
    sealed.state = threadEnded ? state::sealed | state::ended : state::sealed;
    block_->checksum = blockChecksum(sealed, payload, used);
    std::atomic_ref<std::uint8_t>(block_->state).store(sealed.state, std::memory_order_release);
    abandon();
}

// The encoder's part for less frequent events. These are shapes that its table does not hold,
// routines other than malloc, new and free, and addresses that are not multiples of 16.

inline void Encoder::finishNewShape(std::byte* tag, std::byte* at, unsigned bits,
                                    Rest rest) noexcept {
    const bool unknown = rest.usable == 0 && rest.size != 0;
    const std::uint64_t extra = rest.usable - rest.size;
    unsigned way = coding::shapeLarge;
    if (rest.size < (1U << 16) && (unknown || extra < coding::noneSmall)) {
        store(at, rest.size | ((unknown ? coding::noneSmall : extra) << 16));
        at += 3;
        way = coding::shapeSmall;
    } else if (rest.size >> 32 == 0 && (unknown || extra < coding::noneMedium)) {
        store(at, rest.size | ((unknown ? coding::noneMedium : extra) << 32));
        at += 7;
        way = coding::shapeMedium;
    } else {
        store(at, rest.size);
        store(at + 8, rest.usable);
        at += 16;
    }
    if (way != coding::shapeLarge && rest.usable >> 32 == 0) {
        const auto size = static_cast<std::uint32_t>(rest.size);
        shapes_.at(coding::ShapeTable::place(size, 0)) = {
            size, static_cast<std::uint32_t>(rest.usable), 0};
    }
    finish(tag, at, bits | (way << coding::shapeShift));
}

/// A shape that is not in the small table: a place in the larger table, or the shape itself.
inline void Encoder::finishOtherStack(std::byte* tag, std::byte* at, unsigned bits,
                                      Rest rest) noexcept {
    const bool unknown = rest.usable == 0 && rest.size != 0;
    const std::uint64_t extra = unknown ? coding::noneSmall : rest.usable - rest.size;
    const bool fits = rest.size < (1U << 16) && (unknown || extra < coding::noneSmall);
    if (!fits) [[unlikely]] {
        putLargeShape(at, rest);
        tables_.said(rest.stack);
        finish(tag, at, bits | (coding::shapeOther << coding::shapeShift));
        return;
    }
    const auto size = static_cast<std::uint32_t>(rest.size);
    shapes_.at(coding::ShapeTable::place(size, rest.stack)) = {
        size, static_cast<std::uint32_t>(rest.usable), rest.stack};
    const unsigned way = putSmallShape(at, rest, extra); // moves `at`
    finish(tag, at, bits | (way << coding::shapeShift));
}

inline unsigned Encoder::putSmallShape(std::byte*& at, const Rest& rest,
                                       std::uint64_t extra) noexcept {
    const auto size = static_cast<std::uint32_t>(rest.size);
    const std::uint64_t word = coding::StackTables::word(size, extra, rest.stack);
    const unsigned place = tables_.shapePlace(size, rest.stack);
    std::uint64_t& there = tables_.shapeAt(place);
    if (there == word) {
        store(at, place);
        at += 2;
        return coding::shapeRemembered;
    }
    there = word;
    std::byte* const first = at++;
    const bool wide = size > 0xFF;
    store(at, size);
    at += wide ? 2 : 1;
    const bool own = extra >= coding::extraByte;
    store(at, extra);
    at += own ? 1 : 0;
    const std::uint32_t distance = coding::zigzagStack(tables_.top(), rest.stack);
    const std::size_t length = distance >> 24 != 0 ? 4 : coding::fieldLength(distance);
    store(at, distance);
    at += length;
    tables_.said(rest.stack);
    *first = static_cast<std::byte>((length & 3) | (wide ? coding::wideSize : 0) |
                                    (own ? coding::extraByte : extra) << coding::extraShift);
    return coding::shapeNew;
}

/// A large shape is written whole each time.
inline void Encoder::putLargeShape(std::byte*& at, const Rest& rest) const noexcept {
    store(at, rest.size);
    store(at + 8, rest.usable);
    store(at + 16, rest.stack);
    at += 20;
}

inline bool Encoder::putAlignment(std::byte*& at, std::uint64_t alignment) noexcept {
    if (alignment == 0)
        return false;
    if (std::has_single_bit(alignment)) {
        *at++ = static_cast<std::byte>(std::countr_zero(alignment));
        return true;
    }
    *at++ = std::byte{255};
    store(at, alignment);
    at += 8;
    return true;
}

inline void Encoder::other(Routine routine, std::uint64_t time, std::uint64_t address,
                           const Rest& rest) noexcept {
    std::byte* const tag = cursor_;
    std::byte* at = tag + 2;
    const bool unaligned = address % coding::grain != 0;
    unsigned second = static_cast<unsigned>(routine);
    second |= unaligned ? coding::unaligned : 0;
    second |= withStacks_ && isFar(address) ? coding::far : 0;
    unsigned bits = coding::formOther | (putTime(at, time) << coding::timeShift);
    bits |= putAnyAddress(at, address) << coding::addressShift;
    second |= putAlignment(at, rest.alignment) ? coding::hasAlignmentField : 0;
    tag[1] = static_cast<std::byte>(second);
    if (isAllocation(routine) && withStacks_)
        finishStack(tag, at, bits, rest);
    else if (isAllocation(routine))
        finishShape(tag, at, bits, rest);
    else
        finish(tag, at, bits);
}

inline void Encoder::unusualFree(Routine routine, std::uint64_t time,
                                 std::uint64_t address) noexcept {
    if (address != 0 || routine != Routine::free) {
        other(routine, time, address, {});
        return;
    }
    std::byte* const tag = cursor_;
    std::byte* at = tag + 1;
    // There is no address; its length is said as 1, so that no tag is ever zero.
    unsigned bits = coding::formFree | (coding::freeNull << coding::shapeShift);
    bits |= (putTime(at, time) << coding::timeShift) | (1U << coding::addressShift);
    finish(tag, at, bits);
}

inline void Encoder::reallocated(Routine routine, std::uint64_t began, std::uint64_t time,
                                 std::uint64_t old, std::uint64_t address, std::uint64_t size,
                                 std::uint64_t usable, std::uint32_t stack) noexcept {
    std::byte* const tag = cursor_;
    std::byte* at = tag + 3;
    const bool unaligned = address % coding::grain != 0;
    const bool crookedOld = old % coding::grain != 0;
    unsigned bits = coding::formOther | (putTime(at, time) << coding::timeShift);
    unsigned second = static_cast<unsigned>(routine) | (unaligned ? coding::unaligned : 0);
    unsigned third = putField(at, began < time ? time - began : 0);
    third |= crookedOld ? coding::oldUnaligned : 0;
    third |= withStacks_ && isFar(old) ? coding::oldFar : 0;
    third |= putAnyAddress(at, old) << coding::oldShift;
    second |= withStacks_ && isFar(address) ? coding::far : 0;
    bits |= putAnyAddress(at, address) << coding::addressShift;
    tag[1] = static_cast<std::byte>(second);
    tag[2] = static_cast<std::byte>(third);
    if (withStacks_)
        finishStack(tag, at, bits, {size, usable, 0, stack});
    else
        finishShape(tag, at, bits, {size, usable, 0, 0});
}

} // namespace heapwright::trace
