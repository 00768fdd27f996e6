// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-profile [--process N] [--every-site] TRACE: prints the profile of a trace as one JSON
// document, which docs/reference/profile.md describes. With --every-site it omits no call site.
// Exit status: 0; 1 if the output failed; 2 for a wrong command line or a file that is no trace.
// One line on standard error gives the reason.
#include <charconv>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/pass.hpp"
#include "profiler/profiler.hpp"
#include "profiler/provenance.hpp"
#include "profiler/system_view.hpp"
#include "trace/reader.hpp"
#include "trace/stack_table.hpp"

namespace {

using namespace heapwright;

struct Options {
    std::uint32_t process = trace::Selection::all;
    bool everySite = false;
    std::string path;
};

std::optional<Options> optionsOf(int count, char** words) {
    Options options;
    int at = 1;
    if (count > 2 && std::string_view(words[1]) == "--process") {
        const std::string_view number = words[2];
        const auto [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), options.process);
        if (error != std::errc{} || end != number.data() + number.size())
            return {};
        at = 3;
    }
    if (at < count && std::string_view(words[at]) == "--every-site") {
        options.everySite = true;
        ++at;
    }
    if (at + 1 != count)
        return {};
    options.path = words[at];
    return options;
}

int run(const Options& options) {
    const trace::Trace trace(options.path);
    const profiler::Plan plan = profiler::planOf(trace, options.process);
    if (options.process != trace::Selection::all && options.process >= plan.processes.size())
        throw trace::TraceError("there is no process " + std::to_string(options.process), 0);
    profiler::SystemView system(trace, profiler::busiestOf(plan));
    const trace::StackTable stacks(trace);
    profiler::Profiler profiler(plan, system.present() ? &system : nullptr, &stacks);
    profiler::pass(trace, options.process, profiler);
    profiler.finish();

    Json json;
    json.beginObject().field("format", "heapwright profile").field("schema_version", 1U);
    json.key("provenance");
    profiler::writeProvenance(json, trace, options.process, profiler);
    profiler.write(json);
    profiler.sites().write(json, stacks, options.everySite);
    json.endObject();
    const std::string& text = json.text();
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    return written && std::fflush(stdout) == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
    const std::optional<Options> options = optionsOf(count, words);
    if (!options) {
        std::fputs("usage: heapwright-profile [--process N] [--every-site] TRACE\n", stderr);
        return 2;
    }
    try {
        return run(*options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "heapwright-profile: %s\n", error.what());
        return 2;
    }
}
