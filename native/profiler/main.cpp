// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-profile [--process N] [--at MOMENT]... [--pins] TRACE: prints the profile of a trace
// as one JSON document, which docs/reference/profile.md describes. `named_moments.hpp` says what a
// MOMENT is. With --pins the pages of the sites are counted at these moments. With --every-site it
// omits no call site. Exit status: 0; 1 if
// the output failed; 2 for a wrong command line or a file that is no trace. One line on standard
// error gives the reason.
#include <charconv>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/named_moments.hpp"
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
    std::vector<std::string> moments;
    bool pins = false;
    bool everySite = false;
    std::string path;
};

constexpr char usage[] =
    "usage: heapwright-profile [--process N] [--at MOMENT]... [--pins] [--every-site] TRACE\n";

std::optional<std::uint32_t> numberOf(std::string_view text) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size())
        return {};
    return number;
}

std::optional<Options> optionsOf(int count, char** words) {
    Options options;
    int at = 1;
    for (; at + 1 < count; ++at) {
        const std::string_view word = words[at];
        if (word == "--pins") {
            options.pins = true;
        } else if (word == "--every-site") {
            options.everySite = true;
        } else if (word == "--at") {
            options.moments.emplace_back(words[++at]);
        } else if (word == "--process") {
            const std::optional<std::uint32_t> number = numberOf(words[++at]);
            if (!number)
                return {};
            options.process = *number;
        } else {
            return {};
        }
    }
    if (at + 1 != count)
        return {};
    options.path = words[at];
    return options;
}

/// The peak. Its pages need a second pass, because the first one does not know the peak before the
/// end.
profiler::Moment peakOf(const trace::Trace& trace, const Options& options,
                        const profiler::Plan& plan, const profiler::Profiler& profiler,
                        const trace::StackTable& stacks) {
    const profiler::LiveState& peak = profiler.peak();
    if (!options.pins || peak.bytes == 0)
        return profiler.sites().atPeak(peak);
    profiler::Profiler again(plan, nullptr, &stacks,
                             {.times = {}, .afterOperations = peak.operations, .pages = true});
    profiler::pass(trace, options.process, again);
    again.finish();
    const profiler::Moment* const found = again.moments().byOperation();
    if (found == nullptr)
        throw std::runtime_error("it changed while it was read");
    profiler::Moment moment = *found;
    moment.state = peak;
    return moment;
}

int run(const Options& options) {
    const trace::Trace trace(options.path);
    const profiler::Plan plan = profiler::planOf(trace, options.process);
    if (options.process != trace::Selection::all && options.process >= plan.processes.size())
        throw trace::TraceError("there is no process " + std::to_string(options.process), 0);
    if (options.pins && trace.has(trace::flag::noAddresses))
        throw std::runtime_error("its addresses are invented, so no page can be counted");
    if (options.pins && !plan.stacks)
        throw std::runtime_error("it has no call stacks, so no site pins a page");
    const profiler::NamedMoments named(trace, options.process, options.moments);
    profiler::SystemView system(trace, profiler::busiestOf(plan));
    const trace::StackTable stacks(trace);
    profiler::Profiler profiler(plan, system.present() ? &system : nullptr, &stacks,
                                {.times = named.times(), .pages = options.pins});
    profiler::pass(trace, options.process, profiler);
    profiler.finish();

    Json json;
    json.beginObject().field("format", "heapwright profile").field("schema_version", 1U);
    json.key("provenance");
    profiler::writeProvenance(json, trace, options.process, profiler);
    profiler.write(json);
    json.key("marks");
    profiler::NamedMoments::writeMarks(json, trace, options.process);
    const profiler::Moment peak =
        named.hasPeak() ? peakOf(trace, options, plan, profiler, stacks) : profiler::Moment{};
    profiler.sites().write(json, stacks, named.seen(profiler.moments().byTime(), peak),
                           options.everySite);
    json.endObject();
    const std::string& text = json.text();
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    return written && std::fflush(stdout) == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
    const std::optional<Options> options = optionsOf(count, words);
    if (!options) {
        std::fputs(usage, stderr);
        return 2;
    }
    try {
        return run(*options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "heapwright-profile: %s\n", error.what());
        return 2;
    }
}
