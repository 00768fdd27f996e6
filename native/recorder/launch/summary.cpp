// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See summary.hpp.
#include "summary.hpp"

#include "trace/reader.hpp"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <unistd.h>

namespace heapwright::recorder::launch {

namespace {

/// The events that a reader will find, those of threads which were killed included.
std::uint64_t countEvents(const char* path) {
    try {
        return trace::Trace(path).events();
    } catch (const std::exception&) {
        return 0;
    }
}

} // namespace

void writeSummary(const Options& options, const NewTrace& trace, const Ending& ending) {
    if (options.resultFd < 0) {
        return;
    }
    const trace::FileHeader& header = trace.header();
    const double seconds = trace.seconds();
    const std::uint64_t events = countEvents(options.trace);
    char text[1024];
    const int length = std::snprintf(
        text, sizeof text,
        "{\"exit_status\": %d, \"signal\": %d, \"spawn_error\": %d, \"seconds\": %.6f, "
        "\"events\": %llu, \"bytes\": %llu, \"threads\": %u, \"processes\": %u, "
        "\"unfollowed\": %u, \"lost\": %llu, \"stop\": \"%s\"}\n",
        ending.exitStatus, ending.signal, ending.spawnError, seconds,
        static_cast<unsigned long long>(events), static_cast<unsigned long long>(header.claimed),
        header.threads, header.processes, header.unfollowed,
        static_cast<unsigned long long>(header.lostEvents), trace::name(header.stop));
    if (::write(options.resultFd, text, static_cast<std::size_t>(length)) != length) {
        std::perror("heapwright-record: the result cannot be written");
    }
}

} // namespace heapwright::recorder::launch
