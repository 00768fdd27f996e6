// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See events.hpp.
#include "events.hpp"

namespace heapwright::workloads {

Events::Events() = default;

void Events::stop() {}

void Events::describe(Text& text) const {
    static_cast<void>(text);
    static_cast<void>(counting_);
    static_cast<void>(count_);
}

} // namespace heapwright::workloads
