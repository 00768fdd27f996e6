// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How a text begins, for code in libraries that are not linked with the C++ runtime: the standard
// library's own `starts_with` reports a position out of range through it, and only some compilers
// see that there is none.
//
// Cost: the comparison.
#pragma once

#include <string_view>

namespace heapwright {

[[nodiscard]] constexpr bool beginsWith(std::string_view text, std::string_view prefix) noexcept {
    return text.size() >= prefix.size() && std::string_view(text.data(), prefix.size()) == prefix;
}

} // namespace heapwright
