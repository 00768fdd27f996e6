// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The JSON object that heapwright-run writes; native/runner/README.md describes its fields.
#pragma once

#include "counters.hpp"
#include "host_conditions.hpp"
#include "measurement.hpp"

#include <string>

namespace heapwright::runner {

std::string resultJson(const Measurement& measurement, const WitnessFile& witness,
                       const Counters& counters, const HostConditions& hostConditions);

} // namespace heapwright::runner
