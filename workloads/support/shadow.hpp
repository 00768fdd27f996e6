// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of the address space belong to live objects: a bit for each 8 bytes, in pieces that
// are mapped when first needed. Objects that overlap are found the moment that the second is given
// out. Thread-safe: each bit is set and cleared atomically, so of two that overlap one is told.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

class Shadow {
public:
    static constexpr std::size_t granule = 8;

    /// Marks an object live; false if a part of it is already.
    bool mark(std::uintptr_t address, std::size_t size);

    /// Marks it free; false if a part of it was not live.
    bool clear(std::uintptr_t address, std::size_t size);
};

} // namespace heapwright::workloads
