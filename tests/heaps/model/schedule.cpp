// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule.hpp"

#include <charconv>
#include <stdexcept>

namespace heapwright::testing::model {
namespace {

std::size_t takeNumber(std::string_view& text) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) {
        throw std::invalid_argument("a schedule is made of THREAD or THREAD*STEPS");
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

} // namespace

std::string toText(const Schedule& schedule) {
    std::string text;
    for (std::size_t at = 0; at < schedule.size();) {
        std::size_t end = at + 1;
        while (end < schedule.size() && schedule[end] == schedule[at]) {
            ++end;
        }
        text += (at == 0 ? "" : " ") + std::to_string(schedule[at]);
        if (end - at > 1) {
            text += "*" + std::to_string(end - at);
        }
        at = end;
    }
    return text;
}

Schedule toSchedule(std::string_view text) {
    Schedule schedule;
    while (!text.empty()) {
        const std::size_t thread = takeNumber(text);
        std::size_t steps = 1;
        if (!text.empty() && text.front() == '*') {
            text.remove_prefix(1);
            steps = takeNumber(text);
        }
        schedule.insert(schedule.end(), steps, thread);
        const std::size_t spaces = text.find_first_not_of(' ');
        text.remove_prefix(spaces == std::string_view::npos ? text.size() : spaces);
    }
    return schedule;
}

} // namespace heapwright::testing::model
