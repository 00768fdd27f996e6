// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/program/import/import.hpp"

#include <cinttypes>
#include <filesystem>
#include <heapwright/core/json.hpp>
#include <stdexcept>

#include "trace/file_map.hpp"
#include "trace/program/program.hpp"

namespace heapwright::trace {

Import::Import(std::span<const std::byte> from, const std::string& to, std::uint32_t flags)
    : bytes(from), writer(to, {.flags = flags | flag::imported,
                               .clock = Clock::counted,
                               .ticksPerSecond = 1'000'000'000 / tick}) {
    if (from.empty())
        throw TraceError("the file is empty", 0);
    writer.process();
}

std::uint32_t Import::thread(std::uint64_t offset) {
    if (threads_ == mostThreads)
        throw TraceError("more than " + std::to_string(mostThreads) + " threads", offset);
    ++threads_;
    return writer.thread(0);
}

namespace {

void printImport(const Import& import, std::FILE* out) {
    std::fprintf(out, "{\"events\": %" PRIu64 ", \"threads\": %u, \"odd\": {",
                 import.writer.events(), import.threads());
    const char* comma = "";
    for (const auto& [what, count] : import.oddities()) {
        std::fprintf(out, "%s%s: %" PRIu64, comma, jsonText(what).c_str(), count);
        comma = ", ";
    }
    std::fputs("}}\n", out);
}

} // namespace

void importFile(const std::string& format, const std::string& from, const std::string& to,
                std::FILE* out) {
    const bool wl = format == "wl";
    void (*const read)(Import&) = wl                        ? importWl
                                  : format == "mtrace"      ? importMtrace
                                  : format == "mtrace-text" ? importMtraceText
                                  : format == "android"     ? importAndroid
                                                            : nullptr;
    if (read == nullptr)
        throw std::invalid_argument("unknown format " + format +
                                    "; wl, mtrace, mtrace-text or android");
    const FileMap file(from);
    std::error_code none;
    if (std::filesystem::equivalent(from, to, none))
        throw std::invalid_argument("the trace would replace the file that it is read from");
    try {
        Import import(file.bytes(), to, wl ? flag::noAddresses : 0);
        read(import);
        import.writer.close();
        printImport(import, out);
    } catch (...) {
        std::filesystem::remove(to, none); // half of a trace would look like a whole one
        throw;
    }
}

} // namespace heapwright::trace
