// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The name of a workload, its parameters and their published values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

/// A number, or one of several names, that a workload can be given.
struct Parameter {
    const char* name; ///< as in the option and the key of the result
    std::uint64_t value;
    std::uint64_t least;
    std::uint64_t most;
    bool scaled;           ///< multiplied by --scale
    const char* published; ///< as in the literature; empty without one
    const char* meaning;
    /// The names of the choices, ended by null, or null for a number. The value is the index of the
    /// choice.
    const char* const* choices = nullptr;
};

/// Which side defines the contents of objects under verification.
enum class Contents { Observers, Program };

struct Description {
    const char* name;
    const char* summary;   ///< one line
    const char* published; ///< how to get the published size, with its source
    std::uint64_t threads; ///< the default number
    Contents contents;
    Parameter* parameters;
    std::size_t parameterCount;
};

} // namespace heapwright::workloads
