// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-synth: Writes a generated trace, drawn from the plan on standard input or made by one
// of the recreations. It reports the result on standard output, as one line of JSON.
#include "synth/load.hpp"
#include "synth/recreations.hpp"

#include <charconv>
#include <cstdio>
#include <exception>
#include <iostream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace heapwright::synth;

constexpr std::string_view usage =
    "heapwright-synth -o TRACE < PLAN\n"
    "heapwright-synth --recreate NAME [--events N] [--seed N] -o TRACE\n"
    "heapwright-synth --list\n";

struct Options {
    std::string trace;
    std::string recreation;
    std::uint64_t events = 0; ///< 0 = as many as the recreation has of itself
    std::uint64_t seed = 1;
    bool list = false;
};

class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

std::uint64_t number(std::string_view option, std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw UsageError(std::string(option) + " wants a whole number");
    return value;
}

Options readOptions(const std::vector<std::string>& words) {
    Options options;
    for (std::size_t at = 0; at < words.size(); ++at) {
        const std::string& word = words[at];
        if (word == "--list") {
            options.list = true;
            continue;
        }
        if (at + 1 == words.size())
            throw UsageError(word + " is no option, or lacks its value");
        const std::string& value = words[++at];
        if (word == "-o")
            options.trace = value;
        else if (word == "--recreate")
            options.recreation = value;
        else if (word == "--events")
            options.events = number(word, value);
        else if (word == "--seed")
            options.seed = number(word, value);
        else
            throw UsageError("there is no option " + word);
    }
    if (!options.list && options.trace.empty())
        throw UsageError("-o says where the trace goes");
    return options;
}

void list() {
    const char* comma = "[";
    for (const Recreation& each : recreations()) {
        std::cout << comma << "{\"name\": \"" << each.name << "\", \"caption\": \"" << each.caption
                  << "\", \"threads\": " << each.threads << ", \"events\": " << each.events << "}";
        comma = ", ";
    }
    std::cout << "]\n";
}

void tell(Output& output) {
    output.close();
    std::cout << "{\"events\": " << output.events() << ", \"threads\": " << output.threads()
              << "}\n";
}

void recreate(const Options& options) {
    const Recreation* const found = findRecreation(options.recreation);
    if (found == nullptr)
        throw UsageError("there is no recreation " + options.recreation);
    Output output(options.trace, found->threads, {"heapwright-synth", std::string(found->name)});
    heapwright::Random random(options.seed);
    found->make(output, random, options.events == 0 ? found->events : options.events);
    tell(output);
}

void synthesise(const Options& options) {
    const Plan plan = readPlan(std::cin);
    Output output(options.trace, static_cast<std::uint32_t>(plan.threads.size()),
                  {"heapwright-synth"});
    generate(plan, output);
    tell(output);
}

int perform(const Options& options) {
    if (options.list)
        list();
    else if (!options.recreation.empty())
        recreate(options);
    else
        synthesise(options);
    std::cout.flush();
    return std::cout ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return perform(readOptions({argv + 1, argv + argc}));
    } catch (const UsageError& error) {
        std::cerr << "heapwright-synth: " << error.what() << '\n' << usage;
        return 2;
    } catch (const PlanError& error) {
        std::cerr << "heapwright-synth: " << error.what() << '\n';
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "heapwright-synth: " << error.what() << '\n';
        return 1;
    }
}
