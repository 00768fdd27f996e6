// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "drag/valgrind/options.hpp"

namespace heapwright::drag {

const valgrind::ProgramText programText = {
    "heapwright-drag",
    "usage: heapwright-drag --result-fd N [--seconds S] [--calls N] -- COMMAND ARGUMENT...\n"
    "       heapwright-drag --result-fd N --trace FILE\n"
    "Runs the command under valgrind and writes one JSON object to the descriptor N: how long its\n"
    "memory is held after its last use. The marks (libheapwright-drag-marks.so) must be preloaded\n"
    "into the command. The second form reads a log that is there already.\n",
};

std::optional<Options> parseOptions(int count, char** arguments) {
    Options options;
    const auto own = [&options](std::string_view name, double number) {
        if (name != "--calls" || number < 2 || number > 100) {
            return false;
        }
        options.calls = static_cast<int>(number);
        return true;
    };
    const bool good = valgrind::parseOptions(count, arguments, programText, options, own);
    return good ? std::optional(options) : std::nullopt;
}

} // namespace heapwright::drag
