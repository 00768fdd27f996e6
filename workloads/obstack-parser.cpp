// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// obstack-parser: reads the names of programs and looks them up, scope by scope, as the front end
// of a compiler. On an obstack, a name grows where it will stay, is dropped if it is known, and a
// scope is freed in one step. Without an obstack, names grow in a buffer and are copied.
#include "regions/compiler/sources.hpp"
#include "regions/symbols/name_storage.hpp"
#include "support/bump.hpp"
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

const char* const customs[] = {"library", "heapwright",   "layer",    "general",       "region",
                               "reap",    "unfreed-reap", "emulated", "emulated-reap", nullptr};
constexpr std::uint64_t arenasFrom = 4;

Parameter parameters[] = {
    {"custom", 0, 0, std::size(customs) - 2, false, "", "where names come from", customs},
    {"texts", 2000, 1, 1'000'000'000, true, "", "texts that each thread reads"},
    {"sources", 8, 1, 100'000, false, "", "different ones"},
    {"functions", 40, 1, 1024, false, "", "functions of each"},
};
const std::uint64_t& custom = parameters[0].value;
const std::uint64_t& texts = parameters[1].value;
const std::uint64_t& sources = parameters[2].value;
const std::uint64_t& functions = parameters[3].value;

symbols::Found read(const compiler::Sources& read, std::uint64_t with, unsigned thread) {
    symbols::Found found;
    const TextPiece* const first = &read[0];
    switch (with) {
    case 0:
        symbols::readInLibrary(first, sources, texts, thread, found);
        break;
    case 1:
        symbols::readInOurs(first, sources, texts, thread, found);
        break;
    case 2:
        symbols::readMany<symbols::LayerPlace>(first, sources, texts, thread, found);
        break;
    case 3:
        symbols::readMany<symbols::GeneralPlace>(first, sources, texts, thread, found);
        break;
    default:
        withArena(with - arenasFrom + 1, [&]<class Arena>(Arena*) {
            symbols::readMany<symbols::ArenaPlace<Arena>>(first, sources, texts, thread, found);
        });
    }
    return found;
}

void body(Run& run) {
    const compiler::Sources programs(run.seed(), sources, functions);
    std::atomic<std::uint64_t> objects{0};
    std::atomic<std::uint64_t> digest{0};
    run.parallel([&](unsigned thread) {
        const symbols::Found found = read(programs, custom, thread);
        objects += found.objects;
        digest += found.digest;
    });
    run.count(2 * objects);
    run.report("objects", static_cast<double>(objects));
    run.report("checksum", static_cast<double>(digest % 1'000'000'000));
    if (run.verifying()) {
        calls = bumpCalls(false);
        std::uint64_t expected = 0;
        for (unsigned thread = 0; thread < run.threads(); ++thread) {
            expected += read(programs, 3, thread).digest;
        }
        if (expected != digest) {
            notVerified("the names are others than on the bump pointer");
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    Description description{"obstack-parser",
                            "names are read byte by byte, looked up, and freed scope by scope",
                            "not published; what a compiler's front does with obstacks",
                            1,
                            Contents::Program,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
