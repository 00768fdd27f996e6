// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-trace: what a trace file says of itself, its events for other programs, and traces of
// other formats in both directions.
//
//   heapwright-trace info|check TRACE
//   heapwright-trace columns [--process N] TRACE
//   heapwright-trace import wl|mtrace|mtrace-text|android FILE TRACE
//   heapwright-trace export wl [--process N] TRACE FILE
//
// It exits with 0, or with 1 if check met faults. It exits with 2 if a file cannot be read or
// written or the command line is wrong. A line on standard error then names the byte where it can.
#include <charconv>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "trace/program/program.hpp"

namespace heapwright::trace {

namespace {

struct Usage : std::invalid_argument {
    Usage()
        : std::invalid_argument("usage: heapwright-trace info|check|columns|import|export ...") {}
};

/// Takes `--process N` out of the arguments.
Selection takeSelection(std::vector<std::string>& arguments) {
    Selection selection;
    if (arguments.size() < 2 || arguments[0] != "--process")
        return selection;
    const std::string& text = arguments[1];
    const auto result = std::from_chars(text.data(), text.data() + text.size(), selection.process);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size())
        throw Usage();
    arguments.erase(arguments.begin(), arguments.begin() + 2);
    return selection;
}

std::string take(std::vector<std::string>& arguments) {
    if (arguments.empty())
        throw Usage();
    std::string first = arguments.front();
    arguments.erase(arguments.begin());
    return first;
}

int run(std::vector<std::string> arguments, std::string& file) {
    const std::string verb = take(arguments);
    if (verb == "import") {
        const std::string format = take(arguments);
        file = take(arguments);
        importFile(format, file, take(arguments), stdout);
        return 0;
    }
    if (verb == "export" && take(arguments) != "wl")
        throw Usage();
    const bool selects = verb == "columns" || verb == "export";
    const Selection selection = selects ? takeSelection(arguments) : Selection{};
    file = take(arguments);
    if (verb == "info")
        printInfo(Trace(file), stdout);
    else if (verb == "check")
        return printCheck(Trace(file), stdout) ? 0 : 1;
    else if (verb == "columns")
        writeColumns(Trace(file), selection, stdout);
    else if (verb == "export")
        exportWl(Trace(file), selection, take(arguments), stdout);
    else
        throw Usage();
    return 0;
}

} // namespace

} // namespace heapwright::trace

int main(int count, char** values) {
    std::string file;
    try {
        const int status =
            heapwright::trace::run(std::vector<std::string>(values + 1, values + count), file);
        if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
            return status;
        std::fputs("heapwright-trace: the answer could not be written\n", stderr);
    } catch (const heapwright::trace::TraceError& error) {
        std::fprintf(stderr, "heapwright-trace: %s: %s\n", file.c_str(), error.what());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "heapwright-trace: %s\n", error.what());
    }
    return 2;
}
