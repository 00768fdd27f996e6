// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel traces: the allocation requests of a booted kernel, as lines of text. The format is
// described in docs/reference/kernel-models.md. A reader rejects invalid input and names the line.
#pragma once

#include "kernelsim/traffic.hpp"

#include <iosfwd>
#include <stdexcept>

namespace heapwright::kernelsim {

/// The reason why a text is not a valid trace.
class TraceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Throws TraceError.
Traffic readTrace(std::istream& text);

/// Pre: no event reclaims, and nothing is droppable, because a trace states every free.
void writeTrace(const Traffic& traffic, std::ostream& text);

} // namespace heapwright::kernelsim
