// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See node_table.hpp. Node n is element n of one long array, whose pieces are mapped on demand.
#include "node_table.hpp"

#include "table_pages.hpp"
#include "trace/blocks.hpp"

#include <algorithm>

namespace heapwright::recorder::stacks {

namespace {

std::uint64_t mixed(std::uint32_t parent, std::uint64_t address) {
    std::uint64_t hash = address * 0x9E37'79B9'7F4A'7C15ULL;
    hash ^= parent * 0xC2B2'AE3D'27D4'EB4FULL;
    hash ^= hash >> 32U;
    hash *= 0xD6E8'FEB8'6659'FD93ULL;
    return hash ^ hash >> 29U;
}

/// Returns the value in `place`, and creates it if it is null. Returns null without memory.
template <class T>
T* ensure(std::atomic<T*>& place, std::size_t bytes, const Host& host) {
    T* there = place.load(std::memory_order_acquire);
    if (there != nullptr) [[likely]] {
        return there;
    }
    auto* const made = static_cast<T*>(reserveTable(bytes));
    if (made == nullptr) {
        return made;
    }
    if (place.compare_exchange_strong(there, made)) {
        announceTable(host, made, bytes);
        return made;
    }
    unmapTable(made, bytes);
    return there;
}

} // namespace

bool NodeTable::begin(const Host& host) noexcept {
    host_ = host;
    return level(0) != nullptr && segment(0) != nullptr;
}

/// A level, made when it is first needed; null where there is no memory.
NodeTable::Place* NodeTable::level(std::size_t number) noexcept {
    return ensure(levels_[number], sizeof(Place) << (firstBits + growthBits * number), host_);
}

NodeTable::Node* NodeTable::segment(std::uint32_t number) noexcept {
    return ensure(segments_[number / perSegment], perSegment * sizeof(Node), host_);
}

bool NodeTable::is(std::uint32_t number, const Key& key) const noexcept {
    const Node& node = at(number);
    return node.address == key.address && node.parent == key.parent;
}

std::size_t NodeTable::placeOf(std::size_t number, std::uint64_t hash) noexcept {
    return hash & ((std::size_t{1} << (firstBits + growthBits * number)) - line);
}

NodeTable::Lines NodeTable::linesOf(std::uint64_t hash) const noexcept {
    Lines lines{};
    for (std::size_t number = 0; number < levels; ++number) {
        Place* const places = levels_[number].load(std::memory_order_acquire);
        if (places != nullptr) {
            lines[number] = places + placeOf(number, hash);
            __builtin_prefetch(lines[number]);
        }
    }
    return lines;
}

std::uint32_t NodeTable::child(std::uint32_t parent, std::uint64_t address,
                               NodeStream& mine) noexcept {
    const Key key{parent, address, mixed(parent, address)};
    const Lines lines = linesOf(key.hash);
    std::uint32_t made = 0;
    for (std::size_t number = 0; number < levels; ++number) {
        Place* first = lines[number];
        if (first == nullptr) {
            Place* const places = level(number);
            if (places == nullptr) {
                return parent;
            }
            first = places + placeOf(number, key.hash);
        }
        for (std::size_t i = 0; i < line; ++i) {
            std::uint64_t there = first[i].load(std::memory_order_acquire);
            if (there == 0) {
                made = made != 0 ? made : make(key, mine);
                const std::uint64_t ours = (key.hash & ~0xFFFF'FFFFULL) | made;
                if (made == 0) {
                    return parent;
                }
                if (first[i].compare_exchange_strong(there, ours, std::memory_order_acq_rel)) {
                    return made;
                }
            }
            const auto node = static_cast<std::uint32_t>(there);
            if (there >> 32U == key.hash >> 32U && is(node, key)) {
                return node;
            }
        }
    }
    return made != 0 ? made : parent;
}

/// A number larger than the parent's; 0 where there are no more.
std::uint32_t NodeTable::takeNumber(std::uint32_t parent, NodeStream& mine) noexcept {
    if (mine.next >= mine.beyond || mine.next <= parent) {
        mine.next = next_.fetch_add(atOnce, std::memory_order_relaxed);
        mine.beyond = mine.next + atOnce;
    }
    return mine.beyond <= perSegment * segments ? mine.next++ : 0;
}

/// Room for a node in the thread's block.
bool NodeTable::makeRoom(NodeStream& mine, std::uint32_t number) noexcept {
    if (mine.writer.hasRoom()) [[likely]] {
        return true;
    }
    close(mine);
    const std::size_t bytes = trace::pageSize << mine.sizeShift;
    auto* const block = static_cast<trace::BlockHeader*>(host_.claim(Table::stacks, bytes));
    if (block == nullptr) {
        return false;
    }
    mine.sizeShift = std::min<std::uint8_t>(mine.sizeShift + 1, mostSizeShift);
    mine.writer.begin(*block, number);
    return true;
}

/// A new node, complete; 0 where the trace has no more room.
std::uint32_t NodeTable::make(const Key& key, NodeStream& mine) noexcept {
    if (full_.load(std::memory_order_relaxed)) {
        return 0;
    }
    const std::uint32_t number = takeNumber(key.parent, mine);
    Node* const nodes = number != 0 ? segment(number) : nullptr;
    if (nodes == nullptr || !makeRoom(mine, number)) {
        full_.store(true, std::memory_order_relaxed);
        return 0;
    }
    mine.writer.add({number, key.parent, key.address});
    nodes[number % perSegment] = {key.address, key.parent, noRow};
    return number;
}

void NodeTable::close(NodeStream& mine) noexcept {
    trace::BlockHeader* const block = mine.writer.block();
    if (block != nullptr) {
        mine.writer.abandon();
        trace::sealRecords(*block, host_.now());
        host_.release(block, trace::pageSize << block->sizeShift);
    }
}

void NodeTable::abandon(NodeStream& mine) noexcept {
    mine.writer.abandon();
    mine.next = mine.beyond = 0;
    mine.sizeShift = 0;
}

void NodeTable::forget() noexcept {
    for (std::size_t number = 0; number < levels; ++number) {
        Place* const places = levels_[number].load(std::memory_order_acquire);
        const std::size_t count = std::size_t{1} << (firstBits + growthBits * number);
        for (std::size_t i = 0; places != nullptr && i < count; ++i) {
            if (places[i].load(std::memory_order_relaxed) != 0) {
                places[i].store(0, std::memory_order_relaxed);
            }
        }
    }
}

} // namespace heapwright::recorder::stacks
