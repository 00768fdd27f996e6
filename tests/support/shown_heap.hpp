// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A source for tests that shows its live objects. Every object is in a size class of its own
// number, which is its size in words of 16 bytes, up to 1 KiB. Larger ones have none. It has chores
// to do, too, and counts how often it was tended.
#pragma once

#include <heapwright/core/heap_snapshot.hpp>

#include <support/counting_heap.hpp>

#include <cstddef>
#include <cstdint>
#include <map>

namespace heapwright::testing {

class ShownHeap : public CountingHeap {
public:
    static constexpr bool concurrent = true;
    static constexpr std::size_t largest = 1024;
    static inline std::uint32_t tended = 0;

    static std::size_t classOfSize(std::size_t size) noexcept {
        return size > largest ? LiveObject::noClass : size / minAlignment;
    }
    [[nodiscard]] bool hasOwnerTag(const void* object) noexcept {
        return classAt(object) != LiveObject::noClass;
    }
    [[nodiscard]] std::size_t classAt(const void* object) noexcept {
        return classOfSize(CountingHeap::getSize(const_cast<void*>(object)));
    }

    std::uint32_t purgeExpired() noexcept { return ++tended; }

    void inspect(HeapSnapshot& snapshot) noexcept {
        for (const auto& [object, size] : Ledger::the().live) {
            if (const std::size_t index = classOfSize(size); index != LiveObject::noClass) {
                ++snapshot.sizeClass(index, index * minAlignment).used;
            } else {
                ++snapshot.large.objects;
                snapshot.large.bytes += size;
            }
        }
    }

    void walk(const ObjectVisitor& visit) noexcept {
        for (const auto& [object, size] : Ledger::the().live) {
            visit({object, size, classOfSize(size)});
        }
    }
};

/// What a walk shows, by address.
template <class H>
std::map<void*, LiveObject> walked(H& heap) {
    std::map<void*, LiveObject> shown;
    const auto note = [&shown](const LiveObject& object) { shown[object.address] = object; };
    heap.walk(ObjectVisitor(note));
    return shown;
}

} // namespace heapwright::testing
