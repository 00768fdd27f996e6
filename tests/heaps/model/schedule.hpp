// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The order in which threads take their steps, as numbers and as text. `0*3 1 0*2` is three steps
// of thread 0, one of thread 1, two of thread 0.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heapwright::testing::model {

using Schedule = std::vector<std::size_t>;

/// As text.
std::string toText(const Schedule& schedule);

/// The schedule that a text stands for. Throws std::invalid_argument if it is none.
Schedule toSchedule(std::string_view text);

} // namespace heapwright::testing::model
