// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A program as a profiler hears of it: calls one after the other, each some time after the last.
#pragma once

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "profiler/profiler.hpp"

namespace heapwright::profiler {

constexpr std::uint64_t millisecond = 1'000'000;
constexpr std::uint64_t second = 1000 * millisecond;

inline Plan oneProcess(std::size_t threads = 4) {
    Plan plan;
    plan.processes.push_back({});
    plan.threads = threads;
    return plan;
}

class Scene {
public:
    explicit Scene(const Plan& plan = oneProcess()) : profiler_(plan) {}

    Scene& after(std::uint64_t nanoseconds) {
        time_ += nanoseconds;
        return *this;
    }
    Scene& thread(std::uint32_t number) {
        thread_ = number;
        return *this;
    }
    Scene& process(std::uint32_t number) {
        process_ = number;
        return *this;
    }
    /// The call chain of the calls that follow.
    Scene& stack(std::uint32_t number) {
        stack_ = number;
        return *this;
    }
    Scene& malloc(std::uint64_t address, std::uint64_t size) {
        return call(trace::Routine::malloc, address, size);
    }
    Scene& call(trace::Routine routine, std::uint64_t address, std::uint64_t size,
                std::uint64_t usable = 0) {
        trace::Event event = begin(routine);
        event.address = address;
        event.size = size;
        event.usable = usable;
        return apply(event);
    }
    Scene& realloc(std::uint64_t old, std::uint64_t address, std::uint64_t size,
                   std::uint64_t took = 0) {
        trace::Event event = begin(trace::Routine::realloc);
        event.old = old;
        event.address = address;
        event.size = size;
        time_ += took;
        event.time = time_;
        return apply(event);
    }
    /// The old block of a realloc is let go when the call is entered.
    Scene& release(std::uint64_t address) {
        trace::Event event = begin(trace::Routine::release);
        event.address = address;
        return apply(event);
    }
    Scene& free(std::uint64_t address) { return call(trace::Routine::free, address, 0); }
    Scene& apply(const trace::Event& event) {
        profiler_.apply(event);
        return *this;
    }

    Profiler& profiler() { return profiler_; }
    const Counts& counts() const { return profiler_.counts(); }
    const LiveState& state() const { return profiler_.state(); }

    /// The document, once the program has ended.
    std::string document() {
        profiler_.finish();
        Json json;
        json.beginObject();
        profiler_.write(json);
        json.endObject();
        return json.text();
    }

private:
    trace::Event begin(trace::Routine routine) const {
        trace::Event event;
        event.routine = routine;
        event.process = process_;
        event.thread = thread_;
        event.time = event.began = time_;
        event.stack = stack_;
        return event;
    }

    Profiler profiler_;
    std::uint64_t time_ = 0;
    std::uint32_t thread_ = 0;
    std::uint32_t process_ = 0;
    std::uint32_t stack_ = 0;
};

/// What follows the keys, each of which stands somewhere behind the one before.
template <typename... Keys>
std::string after(const std::string& document, const Keys&... keys) {
    std::size_t at = 0;
    for (const std::string& key : {std::string(keys)...}) {
        const std::string wanted = '"' + key + "\":";
        at = document.find(wanted, at);
        if (at == std::string::npos)
            throw std::out_of_range("there is no " + key);
        at += wanted.size();
    }
    return document.substr(at);
}

template <typename... Keys>
double number(const std::string& document, const Keys&... keys) {
    const std::string rest = after(document, keys...);
    double value = 0;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec != std::errc{})
        throw std::invalid_argument("no number: " + rest.substr(0, 20));
    return value;
}

template <typename... Keys>
bool begins(const std::string& document, const std::string& with, const Keys&... keys) {
    return after(document, keys...).starts_with(with);
}

} // namespace heapwright::profiler
