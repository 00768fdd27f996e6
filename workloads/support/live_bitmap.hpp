// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A bitmap of the bytes of live objects. It has one bit for each 8 bytes of the address space, in
// pieces that are mapped at their first use. An overlap is found when the second object is
// allocated. Thread-safe: bits are set and cleared atomically, so one of two overlapping
// allocations is reported.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

class LiveBitmap {
public:
    static constexpr std::size_t granule = 8;

    /// Marks an object live; false if a part of it is already.
    bool mark(std::uintptr_t address, std::size_t size);

    /// Marks it free; false if a part of it was not live.
    bool clear(std::uintptr_t address, std::size_t size);
};

} // namespace heapwright::workloads
