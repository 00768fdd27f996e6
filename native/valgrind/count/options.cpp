// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

namespace heapwright::valgrind {

const ProgramText programText = {
    "heapwright-count",
    "usage: heapwright-count --result-fd N [--seconds S] [--trace-bytes N] -- COMMAND ARGUMENT...\n"
    "       heapwright-count --result-fd N --trace FILE\n"
    "Runs the command under valgrind and writes one JSON object to the descriptor N: what was\n"
    "executed inside the allocator, and which lines of its memory several threads wrote. The "
    "marks\n"
    "must be preloaded into the command, before the allocator. The second form reads such a log.\n",
};

std::optional<Options> parseOptions(int count, char** arguments) {
    Options options;
    options.seconds = 120;
    const auto own = [&options](std::string_view name, double number) {
        if (name != "--trace-bytes") {
            return false;
        }
        options.traceBytes = static_cast<std::uint64_t>(number);
        return true;
    };
    const bool good = parseOptions(count, arguments, programText, options, own);
    return good ? std::optional(options) : std::nullopt;
}

} // namespace heapwright::valgrind
