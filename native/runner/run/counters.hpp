// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Hardware counters of the command and all its descendants, in user mode. They are opened on this
// program, asleep, before the command is started; the command inherits them, and they wake when it
// executes. A counter that the machine or its rules do not give is left out.
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
    /// Scaled up where the machine had to let several counters take turns.
    std::vector<Value> read() const;

private:
    struct Counter {
        const char* name;
        int file;
    };
    std::vector<Counter> counters_;
};

} // namespace heapwright::runner
