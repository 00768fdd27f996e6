// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Number n stands in block n / perBlock. Whoever first needs a block claims one; of two who do, one
// keeps his as the spare for the next.
#include "node_table.hpp"

#include "trace/blocks.hpp"

#include <heapwright/platform/pages.hpp>

namespace heapwright::stacks {

namespace {

std::uint64_t mixed(std::uint32_t parent, std::uint64_t address) {
    std::uint64_t hash = address * 0x9E37'79B9'7F4A'7C15ULL;
    hash ^= parent * 0xC2B2'AE3D'27D4'EB4FULL;
    hash ^= hash >> 32U;
    hash *= 0xD6E8'FEB8'6659'FD93ULL;
    return hash ^ hash >> 29U;
}

} // namespace

bool NodeTable::begin(const Host& host) noexcept {
    host_ = host;
    void* const blocks = platform::reservePages(mostBlocks * sizeof(*blocks_));
    void* const filled = platform::reservePages(mostBlocks * sizeof(*filled_));
    blocks_ = static_cast<std::atomic<Block*>*>(blocks);
    filled_ = static_cast<std::atomic<std::uint32_t>*>(filled);
    return blocks != nullptr && filled != nullptr && level(0) != nullptr;
}

/// A level, made when it is first needed; null where there is no memory.
NodeTable::Place* NodeTable::level(std::size_t number) noexcept {
    Place* places = levels_[number].load(std::memory_order_acquire);
    if (places != nullptr) [[likely]] {
        return places;
    }
    const std::size_t bytes = sizeof(Place) << (firstBits + growthBits * number);
    auto* const made = static_cast<Place*>(platform::reservePages(bytes));
    if (made == nullptr || levels_[number].compare_exchange_strong(places, made)) {
        return made;
    }
    platform::unmapPages(made, bytes);
    return places;
}

bool NodeTable::is(std::uint32_t number, const Key& key) const noexcept {
    const Block* const block = blocks_[number / perBlock].load(std::memory_order_acquire);
    const trace::StackNode& node = block->node[number % perBlock];
    return node.parent == key.parent &&
           node.addressLow == static_cast<std::uint32_t>(key.address) &&
           node.addressHigh == static_cast<std::uint16_t>(key.address >> 32U);
}

std::uint32_t NodeTable::child(std::uint32_t parent, std::uint64_t address) noexcept {
    const Key key{parent, address, mixed(parent, address)};
    std::uint32_t made = 0;
    for (std::size_t number = 0; number < levels; ++number) {
        Place* const places = level(number);
        if (places == nullptr) {
            return parent;
        }
        const std::size_t mask = (std::size_t{1} << (firstBits + growthBits * number)) - line;
        Place* const first = places + (key.hash & mask);
        for (std::size_t i = 0; i < line; ++i) {
            std::uint64_t there = first[i].load(std::memory_order_acquire);
            if (there == 0) {
                made = made != 0 ? made : make(key);
                const std::uint64_t mine = (key.hash & ~0xFFFF'FFFFULL) | made;
                if (made == 0) {
                    return parent;
                }
                if (first[i].compare_exchange_strong(there, mine, std::memory_order_acq_rel)) {
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

/// A new node, complete; 0 where the trace has no more room.
std::uint32_t NodeTable::make(const Key& key) noexcept {
    if (full_.load(std::memory_order_relaxed)) {
        return 0;
    }
    const std::uint32_t number = next_.fetch_add(1, std::memory_order_relaxed);
    Block* const block = number < perBlock * mostBlocks ? blockOf(number) : nullptr;
    if (block == nullptr) {
        full_.store(true, std::memory_order_relaxed);
        return 0;
    }
    trace::StackNode& node = block->node[number % perBlock];
    node.parent = key.parent;
    node.addressLow = static_cast<std::uint32_t>(key.address);
    node.addressHigh = static_cast<std::uint16_t>(key.address >> 32U);
    std::atomic_ref(node.written).store(1, std::memory_order_release);
    const std::uint32_t complete =
        filled_[number / perBlock].fetch_add(1, std::memory_order_acq_rel) + 1;
    if (complete == block->nodes.count) {
        trace::sealRecords(block->header, host_.now());
    }
    return number;
}

NodeTable::Block* NodeTable::blockOf(std::uint32_t number) noexcept {
    std::atomic<Block*>& place = blocks_[number / perBlock];
    Block* block = place.load(std::memory_order_acquire);
    if (block != nullptr) [[likely]] {
        return block;
    }
    Block* mine = spare_.exchange(nullptr, std::memory_order_acq_rel);
    if (mine == nullptr) {
        mine = static_cast<Block*>(host_.claim(Table::stacks, blockBytes));
    }
    if (mine == nullptr) {
        return nullptr;
    }
    const std::uint32_t first = number - number % perBlock;
    const std::uint32_t skipped = first == 0 ? 1 : 0; // the root has no place of its own
    constexpr auto bytes =
        static_cast<std::uint32_t>(sizeof(trace::StackNodes) + perBlock * sizeof(trace::StackNode));
    mine->record = {trace::record::stackNodes, 0, bytes};
    mine->nodes = {first, perBlock};
    if (place.compare_exchange_strong(block, mine, std::memory_order_acq_rel)) {
        filled_[number / perBlock].fetch_add(skipped, std::memory_order_acq_rel);
        std::atomic_ref(mine->header.published)
            .store((std::uint64_t{1} << 32U) + ((sizeof mine->record + bytes + 7) & ~7ULL),
                   std::memory_order_release);
        return mine;
    }
    spare_.store(mine, std::memory_order_release); // if another one is there, that one stays unused
    return block;
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
    afterForkInChild(); // and a new block, so that its time tells what came after
}

void NodeTable::afterForkInChild() noexcept {
    std::uint32_t next = next_.load(std::memory_order_relaxed);
    const std::uint32_t beyond = (next / perBlock + 1) * perBlock;
    while (next < beyond && !next_.compare_exchange_weak(next, beyond)) {
    }
    spare_.store(nullptr, std::memory_order_relaxed);
}

} // namespace heapwright::stacks
