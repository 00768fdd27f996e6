// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Outcomes as JSON, as docs/reference/kernel-models.md describes them.
#pragma once

#include "kernelsim/outcome.hpp"
#include "kernelsim/traffic.hpp"

#include <heapwright/core/json.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace heapwright::kernelsim {

/// Writes the traffic's source, number of events and machine.
void tellTraffic(Json& json, const Traffic& traffic);

/// Writes one model. `times` are the nanoseconds of each round.
void tellOutcome(Json& json, std::string_view model, const Outcome& outcome,
                 const std::vector<std::uint64_t>& times, std::size_t processors);

} // namespace heapwright::kernelsim
