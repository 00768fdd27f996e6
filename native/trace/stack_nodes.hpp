// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The nodes of one block of stacks, written and read: some four bytes each. The new nodes of a
// chain are written from outside inwards, so that most nodes are children of the one before. A
// recently written address is a place in a table that both sides fill alike. A block can be read
// without any other.
//
// The first byte of a node is stored last, and behind it are zeros. A reader that finds it finds
// the node whole, even if the writer ends. The first zero is the end of an unfinished block.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>

#include "trace/layout.hpp"
#include "trace/stacks.hpp"

namespace heapwright::trace {

/// The first byte: Bit 7 is set. Bits 0 and 1 select the form of the address, and 2 and 3 that of
/// the parent. Bits 4 to 6 are the lowest bits of the parent's number.
namespace node {
constexpr unsigned always = 128;
constexpr unsigned addressPlace = 0; ///< u16, in the table
constexpr unsigned addressNear = 1;  ///< 3 bytes, difference to the address before
constexpr unsigned addressFar = 2;   ///< 4 bytes, the same
constexpr unsigned addressWhole = 3; ///< 6 bytes
constexpr unsigned parentNear = 0;   ///< number − parent − 1 is in bits 4 to 6
constexpr unsigned parentSmall = 1;  ///< number − parent; its higher bits in a byte that follows
constexpr unsigned parentMedium = 2; ///< its higher bits in two bytes
constexpr unsigned parentWhole = 3;  ///< u32, its number
constexpr unsigned parentShift = 2;
constexpr unsigned lowShift = 4;
constexpr unsigned lowBits = 3;
/// No node: the number of the next one follows, u32.
constexpr unsigned jump = always | 7U << lowShift | parentWhole << parentShift;
constexpr std::size_t most = 24; ///< bytes of a node and of a jump before it, and what is stored
} // namespace node

/// What both sides remember of a block.
class NodeMemory {
protected:
    void start(std::uint32_t first) noexcept {
        last_ = {first - 1, 0, 0};
        std::fill(std::begin(seen_), std::end(seen_), 0);
    }
    void took(const StackNode& said) noexcept {
        last_ = said;
        seen_[placeOf(said.address)] = said.address;
    }
    static std::size_t placeOf(std::uint64_t address) noexcept {
        return static_cast<std::size_t>(address * 0x9E37'79B9'7F4A'7C15U >> (64 - placeBits));
    }

    static constexpr unsigned placeBits = 12;
    static constexpr std::size_t places = std::size_t{1} << placeBits;

    StackNode last_{};
    std::uint64_t seen_[places]{};
};

class NodeWriter : private NodeMemory {
public:
    bool hasRoom() const noexcept { return cursor_ < limit_; }
    BlockHeader* block() const noexcept { return block_; }

    /// Begins a block that is open and has no records.
    void begin(BlockHeader& block, std::uint32_t first) noexcept;
    /// Pre: there is room, and the parent's number is smaller.
    void add(const StackNode& next) noexcept;
    /// Forgets the block as it is.
    void abandon() noexcept {
        block_ = nullptr;
        cursor_ = limit_ = nullptr;
    }

private:
    static void store(std::byte* at, std::uint64_t value) noexcept {
        std::memcpy(at, &value, sizeof value);
    }
    static void publish(std::byte* at, unsigned bits) noexcept {
        std::atomic_ref<std::byte>(*at).store(static_cast<std::byte>(bits),
                                              std::memory_order_release);
    }
    static unsigned putParent(std::byte*& at, const StackNode& next) noexcept;
    unsigned putAddress(std::byte*& at, std::uint64_t address) const noexcept;

    BlockHeader* block_ = nullptr;
    std::byte* cursor_ = nullptr;
    std::byte* limit_ = nullptr;
};

/// Believes nothing: what does not fit, or no writer writes, is the end.
class NodeReader : private NodeMemory {
public:
    explicit NodeReader(std::span<const std::byte> record) noexcept;
    bool next(StackNode& found) noexcept;

private:
    std::uint64_t take(std::size_t count) noexcept;
    /// What the writer stores last: the rest of the node is there if it is.
    unsigned takeLead() noexcept;
    bool takeParent(unsigned lead, StackNode& found) noexcept;
    void takeAddress(unsigned lead, StackNode& found) noexcept;

    std::span<const std::byte> rest_;
    std::uint32_t number_ = 0;
    bool cut_ = false;
};

inline void NodeWriter::begin(BlockHeader& block, std::uint32_t first) noexcept {
    const std::size_t room = (pageSize << block.sizeShift) - sizeof block;
    auto* const payload = reinterpret_cast<std::byte*>(&block + 1);
    const RecordHeader header{record::stackNodes, 0,
                              static_cast<std::uint32_t>(room - sizeof(RecordHeader))};
    const StackNodes nodes{first, 0};
    std::memcpy(payload, &header, sizeof header);
    std::memcpy(payload + sizeof header, &nodes, sizeof nodes);
    block_ = &block;
    cursor_ = payload + sizeof header + sizeof nodes;
    limit_ = payload + room - node::most;
    start(first);
    std::atomic_ref<std::uint64_t>(block.published)
        .store(std::uint64_t{1} << 32 | room, std::memory_order_release);
}

inline unsigned NodeWriter::putParent(std::byte*& at, const StackNode& next) noexcept {
    const std::uint32_t distance = next.number - next.parent;
    constexpr std::uint32_t low = (1U << node::lowBits) - 1;
    if (distance <= low + 1)
        return (distance - 1) << node::lowShift;
    const unsigned bits = (distance & low) << node::lowShift;
    const std::uint32_t high = distance >> node::lowBits;
    store(at, high);
    if (high < 1U << 8) {
        at += 1;
        return bits | node::parentSmall << node::parentShift;
    }
    if (high < 1U << 16) {
        at += 2;
        return bits | node::parentMedium << node::parentShift;
    }
    store(at, next.parent);
    at += 4;
    return node::parentWhole << node::parentShift;
}

inline unsigned NodeWriter::putAddress(std::byte*& at, std::uint64_t address) const noexcept {
    const std::size_t place = placeOf(address);
    if (seen_[place] == address) {
        store(at, place);
        at += 2;
        return node::addressPlace;
    }
    const auto difference = static_cast<std::int64_t>(address - last_.address);
    const std::uint64_t zigzag =
        static_cast<std::uint64_t>(difference) << 1 ^ static_cast<std::uint64_t>(difference >> 63);
    const bool near = zigzag < 1U << 24;
    if (near || zigzag >> 32 == 0) {
        store(at, zigzag);
        at += near ? 3 : 4;
        return near ? node::addressNear : node::addressFar;
    }
    store(at, address & 0xFFFF'FFFF'FFFFU);
    at += 6;
    return node::addressWhole;
}

inline void NodeWriter::add(const StackNode& next) noexcept {
    if (next.number != last_.number + 1) {
        store(cursor_ + 1, next.number);
        publish(cursor_, node::jump);
        cursor_ += 5;
    }
    std::byte* at = cursor_ + 1;
    const unsigned parent = putParent(at, next);
    const unsigned address = putAddress(at, next.address);
    publish(cursor_, node::always | parent | address);
    cursor_ = at;
    took(next);
}

inline NodeReader::NodeReader(std::span<const std::byte> record) noexcept : rest_(record) {
    number_ = static_cast<std::uint32_t>(take(4));
    take(4);
    start(number_);
}

/// Reads `count` bytes. Returns zero, and ends the reading, if there are fewer.
inline std::uint64_t NodeReader::take(std::size_t count) noexcept {
    std::uint64_t value = 0;
    if (count > rest_.size()) {
        cut_ = true;
        rest_ = {};
        return 0;
    }
    std::memcpy(&value, rest_.data(), count);
    rest_ = rest_.subspan(count);
    return value;
}

inline bool NodeReader::takeParent(unsigned lead, StackNode& found) noexcept {
    const unsigned way = lead >> node::parentShift & 3U;
    const unsigned low = lead >> node::lowShift & ((1U << node::lowBits) - 1);
    if (way == node::parentWhole) {
        found.parent = static_cast<std::uint32_t>(take(4));
        return low == 0 && found.parent < found.number;
    }
    std::uint64_t distance = low + 1;
    if (way != node::parentNear)
        distance = take(way) << node::lowBits | low;
    found.parent = static_cast<std::uint32_t>(found.number - distance);
    return distance != 0 && distance <= found.number;
}

inline void NodeReader::takeAddress(unsigned lead, StackNode& found) noexcept {
    const unsigned way = lead & 3U;
    if (way == node::addressPlace) {
        found.address = seen_[take(2) % places];
    } else if (way == node::addressWhole) {
        found.address = take(6);
    } else {
        const std::uint64_t zigzag = take(way + 2);
        const std::uint64_t moved = last_.address + (zigzag >> 1 ^ (~(zigzag & 1) + 1));
        found.address = moved & 0xFFFF'FFFF'FFFFU;
    }
}

inline unsigned NodeReader::takeLead() noexcept {
    if (rest_.empty())
        return static_cast<unsigned>(take(1));
    const auto* const at = reinterpret_cast<const unsigned char*>(rest_.data());
    rest_ = rest_.subspan(1);
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

inline bool NodeReader::next(StackNode& found) noexcept {
    unsigned lead = takeLead();
    while (lead == node::jump) {
        number_ = static_cast<std::uint32_t>(take(4));
        lead = takeLead();
    }
    found.number = number_++;
    if (lead < node::always || !takeParent(lead, found)) {
        rest_ = {};
        return false;
    }
    takeAddress(lead, found);
    took(found);
    return !cut_;
}

} // namespace heapwright::trace
