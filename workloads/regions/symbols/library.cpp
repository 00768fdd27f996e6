// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The load on the obstacks of the C library, whose macros contain C casts.
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <cstddef>
#include <cstdlib>
#include <obstack.h>

#include "obstack_storage.hpp"

namespace heapwright::workloads::symbols {

void readInLibrary(const TextPiece* texts, std::uint64_t count, std::uint64_t times,
                   std::uint64_t first, Found& found) {
    readMany<ObstackPlace>(texts, count, times, first, found);
}

} // namespace heapwright::workloads::symbols
