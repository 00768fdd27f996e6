// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Signals by their names, for settings that name one. Calls no function of the C library, so that
// settings can be read before that is ready.
#pragma once

#include <heapwright/core/prefix.hpp>

#include <array>
#include <csignal>
#include <string_view>
#include <utility>

namespace heapwright::platform {

/// The number of a signal that a program may handle, from its name with or without SIG; 0 if it is
/// none.
[[nodiscard]] constexpr int signalNamed(std::string_view name) noexcept {
    constexpr std::array<std::pair<std::string_view, int>, 12> signals = {{{"HUP", SIGHUP},
                                                                           {"INT", SIGINT},
                                                                           {"QUIT", SIGQUIT},
                                                                           {"USR1", SIGUSR1},
                                                                           {"USR2", SIGUSR2},
                                                                           {"ALRM", SIGALRM},
                                                                           {"TERM", SIGTERM},
                                                                           {"CONT", SIGCONT},
                                                                           {"URG", SIGURG},
                                                                           {"WINCH", SIGWINCH},
                                                                           {"IO", SIGIO},
                                                                           {"PWR", SIGPWR}}};
    if (beginsWith(name, "SIG")) {
        name.remove_prefix(3);
    }
    for (const auto& [known, number] : signals) {
        if (name == known) {
            return number;
        }
    }
    return 0;
}

/// The name of such a signal, without SIG; empty if it is none.
[[nodiscard]] constexpr std::string_view nameOfSignal(int number) noexcept {
    for (const std::string_view name : {"HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "TERM",
                                        "CONT", "URG", "WINCH", "IO", "PWR"}) {
        if (signalNamed(name) == number) {
            return name;
        }
    }
    return {};
}

} // namespace heapwright::platform
