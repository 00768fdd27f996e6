// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of a workload: the common options, and the workload's own parameters.
#pragma once

#include "description.hpp"
#include "observers.hpp"

namespace heapwright::workloads {

struct Options {
    unsigned threads;
    std::uint64_t seed = 1;
    double scale = 1;
    bool bump = false;
    bool interleave = false;
    bool leave = false; ///< --help or --describe was handled
    Observing watching;
};

/// Reads the options and sets the parameters. Exits with status 2 on an invalid option.
Options readOptions(Description& description, int argc, char** argv);

} // namespace heapwright::workloads
