// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// region-parser: a server that reads JSON documents, tidies them and writes them; each is a tree of
// small objects. With regions, the objects of a request are freed with it. With malloc, a walk over
// the tree frees them. With a reap, superfluous objects are freed at once and the rest with the
// request.
#include "regions/arena_run.hpp"
#include "regions/arenas.hpp"
#include "regions/document_load.hpp"
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"custom", 1, 0, std::size(arenaNames) - 2, false, "", "where objects come from", arenaNames},
    {"requests", 1000, 1, 1'000'000'000, true, "", "documents that each thread reads"},
    {"documents", 16, 1, 100'000, false, "", "different ones"},
    {"bytes", 40'000, 1, 1 << 30, false, "", "the least length of each"},
    {"session", 64, 1, 1'000'000'000, false, "", "requests that a session has"},
};
const std::uint64_t& custom = parameters[0].value;
const std::uint64_t& requests = parameters[1].value;
const std::uint64_t& documents = parameters[2].value;
const std::uint64_t& bytes = parameters[3].value;
const std::uint64_t& session = parameters[4].value;

template <class Arena>
ArenaResult serve(const Documents& texts, unsigned thread, bool again) {
    DocumentLoad<Arena> load;
    for (std::uint64_t request = 0; request < requests; ++request) {
        if (!load.serve(texts[(request + thread) % texts.count()], again)) {
            notVerified("document %llu is not what was written",
                        static_cast<unsigned long long>(request));
        }
        if ((request + 1) % session == 0) {
            load.end();
        }
    }
    load.end();
    return {load.objects(), load.sum()};
}

void body(Run& run) {
    const Documents texts(run.seed(), documents, bytes);
    runInArenas(
        run,
        [&](unsigned thread) {
            return withArena(custom, [&]<class Arena>(Arena*) {
                return serve<Arena>(texts, thread, run.verifying());
            });
        },
        [&](unsigned thread) { return serve<GeneralArena>(texts, thread, true); },
        "the documents are others than on the bump pointer");
}

} // namespace

int main(int argc, char** argv) {
    Description description{"region-parser",
                            "JSON documents are read, tidied and written, a tree of objects each",
                            "not published; the work of a server with a region for each request",
                            1,
                            Contents::Program,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
