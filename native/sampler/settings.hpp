// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The settings of the sampler, from the environment of the program. docs/reference/sampling.md
// has their meaning. A value that cannot be read is reported once and replaced by the default.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::sampler {

struct Settings {
    std::uint64_t mean = 512 << 10;  ///< bytes between two samples, on average
    std::uint64_t threshold = 0;     ///< of estimated live bytes; 0: none
    std::uint64_t every = 0;         ///< seconds between two documents; 0: none
    std::uint64_t seed = 0;          ///< 0: the system's random numbers
    int signal = 0;                  ///< 0: none
    bool ending = false;             ///< SIGTERM, SIGINT and SIGHUP write a document
    bool empty = false;              ///< documents without a sample are written too
    char prefix[512] = "heapwright"; ///< of the documents' names
};

/// Pre: called once, at the first call of an allocation routine.
void readSettings(Settings& settings) noexcept;

} // namespace heapwright::sampler
