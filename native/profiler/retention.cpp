// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Lifetimes as distributions.
#include "profiler/retention.hpp"

#include <numeric>

namespace heapwright::profiler {
namespace {

double powerOfTwo(std::size_t exponent) {
    return static_cast<double>(std::uint64_t{1} << (exponent < 63 ? exponent : 63)) *
           (exponent < 64 ? 1 : 2);
}

double seconds(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e9;
}

} // namespace

void Retention::add(const Life& life) {
    SizeLifetimes& lives = (*sizes_)[SizeScale::step(life.size)];
    lives.bytes += life.size;
    if (!life.ended) {
        ++lives.neverFreed;
        ++neverFreed_;
        return;
    }
    const std::size_t step = TimeScale::step(life.nanoseconds);
    ++lives.times[step];
    ++lives.operations[operationStep(life.operations)];
    lives.handedOver += life.handedOver ? 1 : 0;
    bytes_[step] += life.size;
}

std::uint64_t Retention::shortLived() const {
    const auto counts = this->counts();
    const auto end = static_cast<std::ptrdiff_t>(TimeScale::step(shortRetention)) + 1;
    return std::accumulate(counts.begin(), counts.begin() + end, std::uint64_t{0});
}

std::array<std::uint64_t, TimeScale::steps> Retention::counts() const {
    std::array<std::uint64_t, TimeScale::steps> all{};
    for (const SizeLifetimes& lives : *sizes_)
        for (std::size_t step = 0; step < TimeScale::steps; ++step)
            all[step] += lives.times[step];
    return all;
}

void Retention::write(Json& json, std::uint64_t allocations) const {
    const auto counts = this->counts();
    const auto upTo = [&counts](std::uint64_t limit) { // which is one of the scale's
        const auto end = static_cast<std::ptrdiff_t>(TimeScale::step(limit)) + 1;
        return std::accumulate(counts.begin(), counts.begin() + end, std::uint64_t{0});
    };
    const std::uint64_t quick = upTo(shortRetention);
    const std::uint64_t medium = upTo(mediumRetention) - quick;
    const std::uint64_t slow =
        std::accumulate(counts.begin(), counts.end(), neverFreed_) - quick - medium;
    json.field("short", share(quick, allocations)).field("medium", share(medium, allocations));
    json.field("long", share(slow, allocations));
    json.field("short_count", quick).field("medium_count", medium).field("long_count", slow);
    json.field("never_freed_share", share(neverFreed_, allocations));
    json.key("distribution").beginArray();
    for (std::size_t step = 0; step < TimeScale::steps; ++step) {
        if (counts[step] == 0)
            continue;
        json.beginObject().secondsField("low_s", TimeScale::low(step));
        json.secondsField("high_s", TimeScale::high(step));
        json.field("count", counts[step]).field("bytes", bytes_[step]).endObject();
    }
    json.endArray();
}

void Retention::writeBySize(Json& json) const {
    const auto write = [&json](double low, double high, std::uint64_t count) {
        if (count != 0)
            json.beginObject()
                .field("low", low)
                .field("high", high)
                .field("count", count)
                .endObject();
    };
    json.beginArray();
    for (std::size_t size = 0; size < SizeScale::steps; ++size) {
        const SizeLifetimes& lives = (*sizes_)[size];
        const std::uint64_t count =
            std::accumulate(lives.times.begin(), lives.times.end(), lives.neverFreed);
        if (count == 0)
            continue;
        json.beginObject().field("low", SizeScale::low(size)).field("high", SizeScale::high(size));
        json.field("count", count).field("bytes", lives.bytes);
        json.field("never_freed", lives.neverFreed).field("handed_over", lives.handedOver);
        json.key("seconds").beginArray();
        for (std::size_t step = 0; step < TimeScale::steps; ++step)
            write(seconds(TimeScale::low(step)), seconds(TimeScale::high(step)), lives.times[step]);
        json.endArray().key("operations").beginArray();
        for (std::size_t step = 0; step < operationSteps; ++step)
            write(step == 0 ? 0 : powerOfTwo(step - 1), powerOfTwo(step), lives.operations[step]);
        json.endArray().endObject();
    }
    json.endArray();
}

} // namespace heapwright::profiler
