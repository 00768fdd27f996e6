// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The JSON object that heapwright-run writes; native/runner/README.md describes its fields.
#pragma once

#include "counters.hpp"
#include "session.hpp"
#include "surroundings.hpp"

#include <string>

namespace heapwright::runner {

std::string resultJson(const Session& session, const WitnessFile& witness, const Counters& counters,
                       const Surroundings& surroundings);

} // namespace heapwright::runner
