// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/named_moments.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace heapwright::profiler {
namespace {

constexpr std::size_t mostMarks = 1000;
constexpr std::size_t mostNamed = 10; ///< in a message

bool isOf(const trace::MarkInfo& mark, std::uint32_t process) {
    return process == trace::Selection::all || mark.process == process;
}

/// The first number of a text, and what follows it.
std::optional<double> numberOf(std::string_view text, std::string_view& rest) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || !std::isfinite(number) || number < 0)
        return {};
    rest = text.substr(static_cast<std::size_t>(end - text.data()));
    return number;
}

/// From the first call to the last, as far as the blocks of the threads say.
std::uint64_t partOf(const trace::Trace& trace, std::uint32_t process, double percent) {
    std::uint64_t first = UINT64_MAX;
    std::uint64_t last = 0;
    for (const trace::ThreadInfo& thread : trace.threads()) {
        if (process != trace::Selection::all && thread.process != process)
            continue;
        first = std::min(first, thread.firstTime);
        last = std::max(last, thread.lastTime);
    }
    if (first > last)
        return 0;
    return first + static_cast<std::uint64_t>(static_cast<double>(last - first) * percent / 100);
}

[[noreturn]] void refuse(const trace::Trace& trace, std::uint32_t process,
                         const std::string& name) {
    std::string known;
    std::size_t count = 0;
    for (const trace::MarkInfo& mark : trace.marks()) {
        if (!isOf(mark, process))
            continue;
        if (++count <= mostNamed)
            known += (count == 1 ? "" : ", ") + mark.name;
    }
    if (count > mostNamed)
        known += " and " + std::to_string(count - mostNamed) + " more";
    throw std::runtime_error(
        "there is no moment '" + name + "': it is no time, and " +
        (count == 0 ? "the trace has no marks" : "the marks of the trace are " + known));
}

/// The time of a mark, the first of its name or the one whose number follows `#`.
std::optional<std::uint64_t> markedTime(const trace::Trace& trace, std::uint32_t process,
                                        std::string_view name) {
    std::size_t wanted = 1;
    const auto find = [&](std::string_view text) -> std::optional<std::uint64_t> {
        std::size_t count = 0;
        for (const trace::MarkInfo& mark : trace.marks())
            if (isOf(mark, process) && mark.name == text && ++count == wanted)
                return mark.time;
        return {};
    };
    if (const auto time = find(name); time)
        return time;
    const std::size_t hash = name.rfind('#');
    if (hash == std::string_view::npos)
        return {};
    const std::string_view digits = name.substr(hash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), wanted);
    if (error != std::errc{} || end != digits.data() + digits.size())
        return {};
    return find(name.substr(0, hash));
}

std::uint64_t timeOf(const trace::Trace& trace, std::uint32_t process, const std::string& name) {
    constexpr double mostSeconds = 1e9;
    if (name == "end")
        return UINT64_MAX;
    std::string_view rest;
    const std::optional<double> number = numberOf(name, rest);
    if (number && rest == "%" && *number <= 100)
        return partOf(trace, process, *number);
    if (number && (rest.empty() || rest == "s") && *number <= mostSeconds)
        return static_cast<std::uint64_t>(std::llround(*number * 1e9));
    if (const auto time = markedTime(trace, process, name); time)
        return *time;
    refuse(trace, process, name);
}

} // namespace

NamedMoments::NamedMoments(const trace::Trace& trace, std::uint32_t process,
                           std::vector<std::string> names) {
    for (std::string& name : names) {
        const bool isPeak = name == "peak";
        const std::uint64_t time = isPeak ? 0 : timeOf(trace, process, name);
        named_.push_back({std::move(name), isPeak, time});
    }
}

std::vector<std::uint64_t> NamedMoments::times() const {
    std::vector<std::uint64_t> times;
    for (const Named& each : named_)
        if (!each.isPeak)
            times.push_back(each.time);
    return times;
}

bool NamedMoments::hasPeak() const {
    return std::any_of(named_.begin(), named_.end(), [](const Named& each) { return each.isPeak; });
}

std::vector<NamedMoment> NamedMoments::seen(const std::vector<Moment>& byTime,
                                            const Moment& peak) const {
    std::vector<NamedMoment> moments;
    auto next = byTime.begin();
    for (const Named& each : named_)
        moments.push_back({each.name, each.isPeak ? peak : *next++});
    return moments;
}

void NamedMoments::writeMarks(Json& json, const trace::Trace& trace, std::uint32_t process) {
    std::size_t written = 0;
    json.beginArray();
    for (const trace::MarkInfo& mark : trace.marks()) {
        if (!isOf(mark, process) || ++written > mostMarks)
            continue;
        json.beginObject().field("name", std::string_view(mark.name));
        json.secondsField("time_s", mark.time).field("process", mark.process);
        json.field("signal", mark.signal).endObject();
    }
    json.endArray();
}

} // namespace heapwright::profiler
