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
    const char* name; ///< as the option and the key of the result have it
    std::uint64_t value;
    std::uint64_t least;
    std::uint64_t most;
    bool scaled;           ///< --scale multiplies it
    const char* published; ///< as the literature has it; empty if it has none
    const char* meaning;
    /// Where it is one of several: their names, a null at the end; the value is which of them.
    const char* const* choices = nullptr;
};

/// Whose the contents of objects are when they are verified.
enum class Contents { Observers, Program };

struct Description {
    const char* name;
    const char* summary;   ///< one line
    const char* published; ///< how to reach the published size, and whose it is
    std::uint64_t threads; ///< unless asked for
    Contents contents;
    Parameter* parameters;
    std::size_t parameterCount;
};

} // namespace heapwright::workloads
