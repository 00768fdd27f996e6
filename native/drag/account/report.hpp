// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A finished account as JSON, the output of both programs that keep one.
#pragma once

#include "drag/account/account.hpp"
#include "drag/account/modules.hpp"
#include "drag/account/sites.hpp"

#include <heapwright/core/json.hpp>

namespace heapwright::drag {

/// Writes the fields into an object that is open:
///
///   allocated_bytes, objects            the clock at the end; how many were allocated
///   never_freed, never_accessed         {objects, bytes}
///   held_area, needed_area              bytes × bytes allocated meanwhile; integers of any length
///   peak_held, peak_needed              {bytes, at}
///   curves                              {step, held, needed}: values at 0, step, 2 × step, …
///   modules                             paths of files with code
///   sites                               the `mostSites` with the largest difference of areas, the
///                                       largest first: {objects, bytes, never_freed,
///                                       never_accessed, held_area, needed_area, frames}, where a
///                                       frame is [module or null, address in it], innermost first
///   other_sites                         {sites, objects, bytes, held_area, needed_area}
///   unseen                              {objects, bytes} taken for needed until they were freed
///   unknown_frees, overwritten, unplaced
void writeDrag(Json& json, const Account& account, const Sites& sites, const Modules& modules);

inline constexpr std::size_t mostSites = 500;

} // namespace heapwright::drag
