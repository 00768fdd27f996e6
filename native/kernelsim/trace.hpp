// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel traces: what a booted kernel was asked for, as lines of text. docs/kernel-models.md
// describes them. Nothing in a trace is believed: what makes no sense is refused with its line.
#pragma once

#include "kernelsim/traffic.hpp"

#include <iosfwd>
#include <stdexcept>

namespace heapwright::kernelsim {

/// Why a text is no trace.
class TraceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Throws TraceError.
Traffic readTrace(std::istream& text);

/// Pre: no event reclaims, and nothing is droppable, for a trace says who frees what.
void writeTrace(const Traffic& traffic, std::ostream& text);

} // namespace heapwright::kernelsim
