// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How calls become events. A block is freed by the routine that belongs to the one that made it.
#include "synth/output.hpp"

namespace heapwright::synth {

namespace {

using trace::Routine;

constexpr std::uint64_t ticksPerSecond = 125'000'000; // 8 ns: coarse enough to be short in the file

std::uint64_t alignmentOf(const Request& request) {
    const bool paged = request.routine == Routine::valloc || request.routine == Routine::pvalloc;
    return paged ? trace::pageSize : request.alignment;
}

trace::WriterOptions options() {
    trace::WriterOptions options;
    options.flags = trace::flag::generated | trace::flag::noAddresses;
    options.ticksPerSecond = ticksPerSecond;
    return options;
}

} // namespace

Output::Output(const std::string& path, std::uint32_t threads,
               const std::vector<std::string>& command)
    : writer_(path, options()) {
    trace::ProcessText process;
    process.executable = "heapwright-synth";
    process.arguments = command;
    const std::uint32_t number = writer_.process(process);
    for (std::uint32_t thread = 0; thread < threads; ++thread)
        threads_.push_back(writer_.thread(number));
}

trace::Event Output::begin(std::uint32_t thread, Routine routine) {
    time_ += step_;
    ++events_;
    trace::Event event;
    event.routine = routine;
    event.thread = threads_[thread];
    event.time = static_cast<std::uint64_t>(time_);
    event.began = event.time;
    return event;
}

Block Output::allocate(std::uint32_t thread, const Request& request) {
    trace::Event event = begin(thread, request.routine);
    event.size = request.size;
    event.usable = AddressSpace::usable(request.size);
    event.alignment = request.alignment;
    event.address = places_.take(request.size, alignmentOf(request));
    writer_.add(event);
    return {event.address, request.size, thread, request.routine};
}

void Output::free(const Block& block) {
    trace::Event event = begin(block.ender, trace::freeOf(block.routine));
    event.address = block.address;
    writer_.add(event);
    places_.release(block.address, block.size);
}

void Output::freeNull(std::uint32_t thread) {
    writer_.add(begin(thread, Routine::free));
}

Block Output::reallocate(const Block& block, std::uint64_t size) {
    trace::Event event = begin(block.ender, Routine::realloc);
    event.began = static_cast<std::uint64_t>(time_ - step_ / 2);
    event.old = block.address;
    event.size = size;
    event.usable = AddressSpace::usable(size);
    if (size > block.size)
        places_.release(block.address, block.size);
    event.address = places_.take(size);
    if (size <= block.size)
        places_.release(block.address, block.size);
    writer_.add(event);
    return {event.address, size, block.ender, Routine::realloc};
}

void Output::close() {
    for (const std::uint32_t thread : threads_)
        writer_.endThread(thread);
    writer_.close();
}

} // namespace heapwright::synth
