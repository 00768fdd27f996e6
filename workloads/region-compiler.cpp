// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// region-compiler: compiles and runs modules of a small language: parses them to trees, lowers them
// to instructions, optimises and places them. Each phase has objects that are not needed after it.
// With regions, each phase has a region, inside its function's, inside the module's. With malloc,
// each phase frees its objects. With a reap, instructions that the optimiser removes and outgrown
// tables are freed at once, and the rest with the phase.
#include "regions/arena_run.hpp"
#include "regions/compiler/compile_load.hpp"
#include "regions/compiler/sources.hpp"
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"custom", 1, 0, std::size(arenaNames) - 2, false, "", "where objects come from", arenaNames},
    {"modules", 300, 1, 1'000'000'000, true, "", "modules that each thread compiles"},
    {"sources", 8, 1, 100'000, false, "", "different ones"},
    {"functions", 40, 1, compiler::CompileLoad<GeneralArena>::mostFunctions, false, "",
     "functions of each"},
};
const std::uint64_t& custom = parameters[0].value;
const std::uint64_t& modules = parameters[1].value;
const std::uint64_t& sources = parameters[2].value;
const std::uint64_t& functions = parameters[3].value;

template <class Arena>
ArenaResult compile(const compiler::Sources& texts, unsigned thread, bool again) {
    compiler::CompileLoad<Arena> load;
    for (std::uint64_t module = 0; module < modules; ++module) {
        if (!load.compile(texts[(module + thread) % texts.count()], again)) {
            notVerified("module %llu is not compiled as it is meant",
                        static_cast<unsigned long long>(module));
        }
    }
    return {load.objects(), load.sum()};
}

void body(Run& run) {
    const compiler::Sources texts(run.seed(), sources, functions);
    runInArenas(
        run,
        [&](unsigned thread) {
            return withArena(custom, [&]<class Arena>(Arena*) {
                return compile<Arena>(texts, thread, run.verifying());
            });
        },
        [&](unsigned thread) { return compile<GeneralArena>(texts, thread, true); },
        "the modules give something else than on the bump pointer");
}

} // namespace

int main(int argc, char** argv) {
    Description description{"region-compiler",
                            "modules are parsed, lowered, optimised and run, a region for a phase",
                            "not published; the phases and regions of a compiler as lcc has them",
                            1,
                            Contents::Program,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
