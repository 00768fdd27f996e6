// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "granary.hpp"

#include <heapwright/structure/superblock/superblock.hpp>

#include <cstring>

namespace heapwright::look {

namespace {

constexpr Address unit = 32768;
constexpr std::uint64_t liveMark = 0xB7E5'4C41'5247'4531; ///< UnitObjectHeap::State::live
constexpr std::uint64_t largestSlot = unit / 2;

/// The first cache line of a superblock.
struct SuperblockHead {
    std::uint64_t ownerTag;
    std::uint64_t owner;
    std::uint64_t next;
    std::uint64_t previous;
    std::uint16_t group;
    std::uint16_t low;
    std::uint16_t high;
    SuperblockLayout layout;
    std::uint16_t head;
    std::uint16_t firstUnused;
    std::uint16_t used;
    std::uint16_t room;
    std::uint16_t special;
    std::uint16_t sizeClass;
};
static_assert(sizeof(SuperblockHead) == SuperblockLayout::cacheLine);

struct LargeHead {
    std::uint64_t home;
    std::uint64_t owner;
    std::uint64_t state;
    std::uint64_t lead;
    std::uint64_t capacity;
};

bool isSuperblock(const SuperblockHead& head) {
    const std::uint64_t slot = head.layout.slot;
    if (slot < 16 || slot > largestSlot || slot % 16 != 0) {
        return false;
    }
    const SuperblockLayout layout = SuperblockLayout::of(unit, slot);
    return layout.reciprocal == head.layout.reciprocal && layout.count == head.layout.count &&
           layout.first == head.layout.first && head.used <= layout.count &&
           head.firstUnused <= layout.count && head.used <= head.firstUnused;
}

bool isLarge(const LargeHead& head, Address left) {
    return head.state == liveMark && head.owner == 0 && head.lead != 0 && head.lead < left &&
           head.capacity <= left - head.lead;
}

class Units {
public:
    explicit Units(const Image& image) : image_(image) {}

    void in(Address begin, Address end) {
        for (Address at = (begin + unit - 1) / unit * unit; at + unit <= end;) {
            Page state = Page::absent;
            image_.pages(at, 1, &state);
            at += state == Page::absent ? unit : lengthAt(at, end - at);
        }
    }

    GranaryAccount sum;

private:
    /// Adds what begins there; returns the bytes of its units.
    Address lengthAt(Address at, Address left) {
        char bytes[sizeof(SuperblockHead)];
        image_.read(at, bytes, sizeof bytes);
        SuperblockHead superblock;
        std::memcpy(&superblock, bytes, sizeof superblock);
        LargeHead large;
        std::memcpy(&large, bytes, sizeof large);
        if (isLarge(large, left)) {
            ++sum.large.blocks;
            sum.large.bytes += large.capacity;
            const Address length = (large.lead + large.capacity + unit - 1) / unit * unit;
            sum.resident += image_.residentBytes(at, at + length);
            return length;
        }
        if (isSuperblock(superblock)) {
            add(at, superblock);
        }
        return unit;
    }

    void add(Address at, const SuperblockHead& head) {
        ++sum.superblocks;
        if (head.used == 0) {
            ++sum.emptySuperblocks;
            return;
        }
        sum.small.blocks += head.used;
        sum.small.bytes += std::uint64_t{head.used} * head.layout.slot;
        sum.freeSlots += std::uint64_t{head.layout.count} * head.layout.slot -
                         std::uint64_t{head.used} * head.layout.slot;
        sum.resident += image_.residentBytes(at, at + unit);
    }

    const Image& image_;
};

} // namespace

std::optional<GranaryAccount> findGranary(const Image& image) {
    Units units(image);
    Address begin = 0;
    Address end = 0;
    for (const Mapping& mapping : image.mappings()) {
        if (!mapping.isData() || !mapping.path.empty()) {
            continue;
        }
        if (mapping.begin != end) { // advice on huge pages divides a chunk into several mappings
            units.in(begin, end);
            begin = mapping.begin;
        }
        end = mapping.end;
    }
    units.in(begin, end);
    const bool isFound = units.sum.superblocks != 0 || units.sum.large.blocks != 0;
    return isFound ? std::optional(units.sum) : std::nullopt;
}

} // namespace heapwright::look
