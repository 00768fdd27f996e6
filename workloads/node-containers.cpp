// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// node-containers: simulates a cache with the standard library's containers, whose elements are
// separate nodes. Nodes have few sizes, for which containers have long been given pools. Here they
// come from operator new, from pools, or from regions and reaps.
#include "mixture/requests.hpp"
#include "regions/containers/cache_load.hpp"
#include "support/bump.hpp"
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;
using namespace heapwright::workloads::containers;

const char* const customs[] = {"general",       "pool",          "gnu-pool", "pmr-pool",
                               "pmr-monotonic", "region",        "reap",     "unfreed-reap",
                               "emulated",      "emulated-reap", nullptr};
constexpr std::uint64_t arenasFrom = 5;

Parameter parameters[] = {
    {"custom", 1, 0, std::size(customs) - 2, false, "", "where nodes come from", customs},
    {"sessions", 20, 1, 1'000'000'000, true, "", "caches of each thread, one after another"},
    {"steps", 100'000, 1, 1'000'000'000, false, "", "requests to each"},
    {"room", 5000, 1, 1'000'000'000, false, "", "what a cache holds"},
    {"keys", 40'000, 1, 1'000'000'000, false, "", "the allowed requests"},
};
const std::uint64_t& custom = parameters[0].value;
const std::uint64_t& sessions = parameters[1].value;
const std::uint64_t& steps = parameters[2].value;
const std::uint64_t& room = parameters[3].value;
const std::uint64_t& keys = parameters[4].value;

template <class Arena>
Done simulated(std::uint64_t seed, unsigned thread) {
    return simulate<Arena>(sessions, steps, room, keys, Random(seed, thread));
}

Done simulateWith(std::uint64_t seed, unsigned thread) {
    switch (custom) {
    case 0:
        return simulated<NewArena>(seed, thread);
    case 1:
        return simulated<PoolArena>(seed, thread);
    case 2:
        return simulated<GnuPoolArena>(seed, thread);
    case 3:
        return simulated<PmrPoolArena>(seed, thread);
    case 4:
        return simulated<MonotonicArena>(seed, thread);
    default:
        return withArena(custom - arenasFrom + 1,
                         [&]<class Arena>(Arena*) { return simulated<Arena>(seed, thread); });
    }
}

void body(Run& run) {
    std::atomic<std::uint64_t> objects{0};
    std::atomic<std::uint64_t> digest{0};
    run.parallel([&](unsigned thread) {
        const Done done = simulateWith(run.seed(), thread);
        objects += done.objects;
        digest += done.digest;
    });
    run.count(2 * objects);
    run.report("objects", static_cast<double>(objects));
    run.report("checksum", static_cast<double>(digest % 1'000'000'000));
    if (run.verifying()) {
        calls = bumpCalls(false);
        std::uint64_t expected = 0;
        for (unsigned thread = 0; thread < run.threads(); ++thread) {
            expected += simulated<NewArena>(run.seed(), thread).digest;
        }
        if (expected != digest) {
            notVerified("the caches are others than on the bump pointer");
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    // Set before any allocation, so that it applies to observers and the bump pointer too.
    systemCalls.create = newObject;
    systemCalls.destroy = deleteObject;
    Description description{"node-containers",
                            "a cache of standard containers, whose nodes come from pools",
                            "not published; containers' node allocators against operator new",
                            1,
                            Contents::Program,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
