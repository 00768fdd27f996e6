// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Traces made from published descriptions, where the traces themselves belong to other authors. One
// more trace is without a model, steady and of any length. docs/reference/synth.md states what of
// each was published and what had to be chosen.
#pragma once

#include "synth/output.hpp"

#include <heapwright/core/random.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace heapwright::synth {

struct Recreation {
    std::string_view name;
    std::string_view caption;
    std::uint32_t threads;
    std::uint64_t events; ///< the default number, approximately
    void (*make)(Output& output, Random& random, std::uint64_t events);
};

std::span<const Recreation> recreations();

/// Null where none has that name.
const Recreation* findRecreation(std::string_view name);

} // namespace heapwright::synth
