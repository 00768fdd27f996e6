// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Signals by their names, for settings that name one. No call of the C library, so that they may be
// read before it is ready.
#pragma once

#include <heapwright/core/prefix.hpp>

#include <array>
#include <csignal>
#include <string_view>
#include <utility>

namespace heapwright::platform {

/// A signal by its name, with or without SIG, that a program may handle; 0 if it is none.
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
