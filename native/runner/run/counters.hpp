// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Hardware counters of the command and all its descendants, in user mode. This program opens them,
// disabled, before the command starts. The command inherits them, and exec enables them. A counter
// that the machine lacks or forbids is omitted.
#pragma once

#include <string>
#include <vector>

namespace heapwright::runner {

class Counters {
public:
    struct Value {
        const char* name;
        double count;
    };

    void open();
    /// The counts, scaled if the machine multiplexed several counters.
    std::vector<Value> read() const;

private:
    struct Counter {
        const char* name;
        int file;
    };
    std::vector<Counter> counters_;
};

} // namespace heapwright::runner
