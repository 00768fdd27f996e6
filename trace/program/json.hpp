// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Texts of other people, as JSON: control characters escaped, and bytes that are no UTF-8 replaced.
#pragma once

#include <string>
#include <string_view>

namespace heapwright::trace {

/// In quotes.
std::string jsonText(std::string_view text);

} // namespace heapwright::trace
