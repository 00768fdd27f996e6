// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests how a text begins, for libraries that are not linked with the C++ runtime.
// `std::string_view::starts_with` may call the runtime to report a position out of range, if the
// compiler cannot prove that the position is valid.
#pragma once

#include <string_view>

namespace heapwright {

[[nodiscard]] constexpr bool beginsWith(std::string_view text, std::string_view prefix) noexcept {
    return text.size() >= prefix.size() && std::string_view(text.data(), prefix.size()) == prefix;
}

} // namespace heapwright
