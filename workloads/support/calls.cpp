// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See calls.hpp.
#include "calls.hpp"

#include <cstdlib>
#include <malloc.h>

namespace heapwright::workloads {

Calls systemCalls{std::malloc, std::free,   std::calloc, std::realloc,
                  ::memalign,  std::malloc, std::free};
Calls calls{std::malloc, std::free, std::calloc, std::realloc, ::memalign, std::malloc, std::free};

} // namespace heapwright::workloads
