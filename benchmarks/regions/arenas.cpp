// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a load on all arenas in one process, in turn and in another order in each round. Prints the
// processor time of each run as JSON: {"region": [seconds, ...], ...}. The results must be the same
// in all arenas.
//
//   arenas LOAD ROUNDS [ARENA]      LOAD: parser, compiler; with ARENA only that one
#include "arenas.hpp"

#include <regions/compiler/compile_load.hpp>
#include <regions/compiler/sources.hpp>
#include <regions/document_load.hpp>
#include <regions/documents.hpp>

#include <heapwright/core/random.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace heapwright;
using namespace heapwright::benchmarks;

struct Texts {
    workloads::Documents documents{1, 8, 40'000};
    workloads::compiler::Sources sources{1, 4, 40};
};

template <class Arena>
[[gnu::noinline]] std::uint64_t runParser(const Texts& texts) {
    workloads::DocumentLoad<Arena> load;
    for (std::size_t request = 0; request < 24; ++request) {
        if (!load.serve(texts.documents[request % 8])) {
            std::abort();
        }
    }
    load.end();
    return load.sum();
}

template <class Arena>
[[gnu::noinline]] std::uint64_t runCompiler(const Texts& texts) {
    workloads::compiler::CompileLoad<Arena> load;
    for (std::size_t module = 0; module < 12; ++module) {
        if (!load.compile(texts.sources[module % 4])) {
            std::abort();
        }
    }
    return load.sum();
}

using Work = std::uint64_t (*)(const Texts&);

struct Arm {
    const char* name;
    Work parser;
    Work compiler;
};

template <class Arena>
constexpr Arm armOf(const char* name) {
    return {name, runParser<Arena>, runCompiler<Arena>};
}

const Arm arms[] = {
    armOf<Region>("region"),
    armOf<UnfreedReap>("reap as a region"),
    armOf<Reap>("reap"),
    armOf<RegionInC>("region in C"),
    armOf<ReapInC<false>>("reap in C as a region"),
    armOf<ReapInC<true>>("reap in C"),
    armOf<Monotonic>("std::pmr::monotonic_buffer_resource"),
    armOf<GnuObstack>("GNU obstack"),
#ifdef WITH_APR
    armOf<AprPool>("APR pool"),
#endif
    armOf<WinXpHeaps>("many heaps of Windows XP"),
    armOf<VmallocRegions>("vmalloc regions"),
    armOf<General>("malloc"),
};

double processorSeconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The measured runs. Called through this name, so that a tool can find them.
extern "C" [[gnu::noinline]] std::uint64_t measured(Work work, const Texts& texts);
extern "C" std::uint64_t measured(Work work, const Texts& texts) {
    return work(texts);
}

int usage() {
    std::fputs("usage: arenas parser|compiler ROUNDS [ARENA]\n", stderr);
    return 2;
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view load = argc > 2 ? argv[1] : "";
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 0;
    if ((load != "parser" && load != "compiler") || rounds < 1) {
        return usage();
    }
#ifdef WITH_APR
    apr_pool_initialize();
#endif
    std::vector<const Arm*> chosen;
    for (const Arm& arm : arms) {
        if (argc < 4 || std::string_view(argv[3]) == arm.name) {
            chosen.push_back(&arm);
        }
    }
    if (chosen.empty()) {
        return usage();
    }
    const Texts texts;
    std::vector<std::vector<double>> times(chosen.size());
    std::vector<std::size_t> order;
    for (std::size_t at = 0; at < chosen.size(); ++at) {
        order.push_back(at);
    }
    Random random(static_cast<std::uint64_t>(std::time(nullptr)));
    std::uint64_t expected = 0;
    for (int round = -1; round < rounds; ++round) { // the first round is not counted
        for (std::size_t left = order.size(); left > 1; --left) {
            std::swap(order[left - 1], order[random.below(left)]);
        }
        for (const std::size_t at : order) {
            const Work work = load == "parser" ? chosen[at]->parser : chosen[at]->compiler;
            const double before = processorSeconds();
            const std::uint64_t sum = round < 0 ? work(texts) : measured(work, texts);
            const double after = processorSeconds();
            expected = expected == 0 ? sum : expected;
            if (sum != expected) {
                std::fprintf(stderr, "arenas: %s gives something else\n", chosen[at]->name);
                return 1;
            }
            if (round >= 0) {
                times[at].push_back(after - before);
            }
        }
    }
    std::string text = "{";
    for (std::size_t at = 0; at < chosen.size(); ++at) {
        text += std::string(at == 0 ? "\"" : ", \"") + chosen[at]->name + "\": [";
        for (std::size_t round = 0; round < times[at].size(); ++round) {
            char number[40];
            std::snprintf(number, sizeof number, "%s%.9f", round == 0 ? "" : ", ",
                          times[at][round]);
            text += number;
        }
        text += "]";
    }
    std::puts((text + "}").c_str());
    return 0;
}
