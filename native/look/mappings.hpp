// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses /proc/PID/smaps and /proc/PID/maps, which has the same first lines without figures.
#pragma once

#include "image.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heapwright::look {

/// The whole content of a file below /proc. Throws std::system_error.
std::string contentOf(const std::string& path);

/// The mappings of a text. Lines that are not understood are ignored.
std::vector<Mapping> parseMappings(std::string_view text);

} // namespace heapwright::look
