// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-kernelsim: runs traffic on models of the kernel's object allocators. The traffic is
// drawn from the load on standard input or read from a kernel trace. It prints the results as one
// line of JSON. Rounds alternate between the models, so that a disturbance affects all of them. All
// results except the time are the same in each round; a difference is an error.
#include "kernelsim/kernel_trace.hpp"
#include "kernelsim/load.hpp"
#include "kernelsim/report.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace heapwright::kernelsim;

constexpr std::string_view usage =
    "heapwright-kernelsim [options] < LOAD\n"
    "heapwright-kernelsim [options] --trace FILE\n"
    "heapwright-kernelsim --cpus N --seed N --write FILE < LOAD\n"
    "  --model NAME (again for more; default: all)  --cpus N  --seed N  --rounds N  --samples N\n";

struct Options {
    std::string trace;
    std::string written;
    std::vector<std::string> models;
    std::size_t processors = 1;
    std::uint64_t seed = 1;
    std::size_t rounds = 1;
    std::size_t samples = 100;
};

class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

std::uint64_t number(const std::string& option, std::string_view text, std::uint64_t least,
                     std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
        throw UsageError(option + " wants a whole number from " + std::to_string(least) + " to " +
                         std::to_string(most));
    return value;
}

Options readOptions(const std::vector<std::string>& words) {
    Options options;
    for (std::size_t at = 0; at < words.size(); at += 2) {
        const std::string& word = words[at];
        if (at + 1 == words.size())
            throw UsageError(word + " is no option, or lacks its value");
        const std::string& value = words[at + 1];
        if (word == "--trace")
            options.trace = value;
        else if (word == "--write")
            options.written = value;
        else if (word == "--model")
            options.models.push_back(value);
        else if (word == "--cpus")
            options.processors = number(word, value, 1, mostProcessors);
        else if (word == "--seed")
            options.seed = number(word, value, 0, UINT64_MAX);
        else if (word == "--rounds")
            options.rounds = number(word, value, 1, 1000);
        else if (word == "--samples")
            options.samples = number(word, value, 1, 100'000);
        else
            throw UsageError("there is no option " + word);
    }
    for (const std::string& model : options.models)
        if (std::find(modelNames.begin(), modelNames.end(), model) == modelNames.end())
            throw UsageError("there is no model " + model);
    if (options.models.empty())
        options.models.assign(modelNames.begin(), modelNames.end());
    return options;
}

Traffic trafficOf(const Options& options) {
    if (options.trace.empty())
        return draw(readLoad(std::cin), options.processors, options.seed);
    std::ifstream file(options.trace);
    if (!file)
        throw TraceError("the file cannot be opened");
    return readTrace(file);
}

void write(const Options& options, const Traffic& traffic) {
    for (const Event& event : traffic.events)
        if (event.droppable || event.verb == Event::Verb::reclaim)
            throw UsageError("a load in which the machine frees things itself is no trace");
    std::ofstream file(options.written);
    writeTrace(traffic, file);
    file.close();
    if (!file)
        throw std::runtime_error("the trace could not be written");
    std::cout << "{\"events\":" << traffic.events.size() << "}\n";
}

void run(const Options& options, const Traffic& traffic) {
    std::vector<Outcome> outcomes(options.models.size());
    std::vector<std::vector<std::uint64_t>> times(options.models.size());
    for (std::size_t round = 0; round < options.rounds; ++round) {
        for (std::size_t model = 0; model < options.models.size(); ++model) {
            Outcome made = runModel(options.models[model], traffic, options.samples);
            times[model].push_back(made.nanoseconds);
            if (round != 0 && !sameButForTime(made, outcomes[model]))
                throw ModelFault(options.models[model] + " did something else when run again");
            outcomes[model] = std::move(made);
        }
    }
    heapwright::Json json;
    json.beginObject().key("traffic").beginObject();
    tellTraffic(json, traffic);
    json.endObject().key("models").beginArray();
    for (std::size_t model = 0; model < options.models.size(); ++model)
        tellOutcome(json, options.models[model], outcomes[model], times[model], traffic.processors);
    json.endArray().endObject();
    std::cout << json.text() << '\n';
}

int perform(const Options& options) {
    const Traffic traffic = trafficOf(options);
    if (options.written.empty())
        run(options, traffic);
    else
        write(options, traffic);
    std::cout.flush();
    return std::cout ? 0 : 1;
}

int say(const char* what, int status) {
    std::cerr << "heapwright-kernelsim: " << what << '\n';
    return status;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return perform(readOptions({argv + 1, argv + argc}));
    } catch (const UsageError& error) {
        const int status = say(error.what(), 2);
        std::cerr << usage;
        return status;
    } catch (const LoadError& error) {
        return say(error.what(), 2);
    } catch (const TraceError& error) {
        return say(error.what(), 2);
    } catch (const std::bad_alloc&) {
        return say("there is no memory for so much", 1);
    } catch (const std::exception& error) {
        return say(error.what(), 1);
    }
}
