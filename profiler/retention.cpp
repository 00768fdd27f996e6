// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Lifetimes as distributions.
#include "profiler/retention.hpp"

#include <bit>

namespace heapwright::profile {
namespace {

/// Step 0 is [0, 1], each further one (2^(n-1), 2^n].
std::size_t operationStep(std::uint64_t operations) {
    return operations <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(operations - 1));
}

double powerOfTwo(std::size_t exponent) {
    return static_cast<double>(std::uint64_t{1} << (exponent < 63 ? exponent : 63)) *
           (exponent < 64 ? 1 : 2);
}

double seconds(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e9;
}

} // namespace

void Retention::add(const Life& life) {
    SizeLives& lives = (*sizes_)[SizeScale::step(life.size)];
    ++lives.count;
    lives.bytes += life.size;
    if (!life.ended) {
        ++lives.neverFreed;
        ++neverFreed_;
        ++long_;
        return;
    }
    const std::size_t step = TimeScale::step(life.nanoseconds);
    ++times_[step].count;
    times_[step].bytes += life.size;
    ++lives.times[step];
    ++lives.operations[operationStep(life.operations)];
    lives.handedOver += life.handedOver;
    short_ += life.nanoseconds <= shortRetention;
    medium_ += life.nanoseconds > shortRetention && life.nanoseconds <= mediumRetention;
    long_ += life.nanoseconds > mediumRetention;
}

void Retention::write(Json& json, std::uint64_t allocations) const {
    json.field("short", share(short_, allocations)).field("medium", share(medium_, allocations));
    json.field("long", share(long_, allocations));
    json.field("short_count", short_).field("medium_count", medium_).field("long_count", long_);
    json.field("never_freed_share", share(neverFreed_, allocations));
    json.key("distribution").beginArray();
    for (std::size_t step = 0; step < TimeScale::steps; ++step) {
        if (times_[step].count == 0)
            continue;
        json.beginObject().secondsField("low_s", TimeScale::low(step));
        json.secondsField("high_s", TimeScale::high(step));
        json.field("count", times_[step].count).field("bytes", times_[step].bytes).endObject();
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
        const SizeLives& lives = (*sizes_)[size];
        if (lives.count == 0)
            continue;
        json.beginObject().field("low", SizeScale::low(size)).field("high", SizeScale::high(size));
        json.field("count", lives.count).field("bytes", lives.bytes);
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

} // namespace heapwright::profile
