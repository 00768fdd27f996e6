// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// barnes-hut: bodies under their mutual gravity. In each round a tree of space is built over them,
// with one object for each node. Then every body's acceleration is summed over the tree, with far
// groups taken as one, and the bodies move. A tree is freed only when the next one exists, by the
// thread that then builds that part. It is real work with moderate allocation: about 57,000 small
// objects in each round.
// Source: the force is Barnes and Hut's (1986); the setting is that of Berger 2002.
#include "nbody/simulation.hpp"
#include "support/bump.hpp"
#include "support/program.hpp"

#include <cmath>

namespace {

using namespace heapwright::workloads;

Parameter parameters[] = {
    {"bodies", 32'768, 1, 1 << 26, false, "32,768", "bodies"},
    {"rounds", 5, 1, 1'000'000, true, "20", "steps in time"},
};
const std::uint64_t& bodies = parameters[0].value;
const std::uint64_t& rounds = parameters[1].value;

void simulate(Run& run, Simulation& simulation) {
    Barrier barrier(run.threads());
    run.parallel([&](unsigned thread) {
        for (std::uint64_t round = 0; round < rounds; ++round) {
            if (thread == 0) {
                simulation.divide();
            }
            barrier.wait();
            simulation.build(thread, run.threads(), round);
            barrier.wait();
            if (thread == 0) {
                simulation.join();
            }
            barrier.wait();
            simulation.accelerate(thread, run.threads());
            barrier.wait();
            simulation.move(thread, run.threads());
            barrier.wait();
        }
    });
}

/// Repeats the run on the bump pointer: the places of nodes must not change the paths of bodies.
void checkAgainstAnother(Run& run, const Simulation& simulation) {
    const Calls before = calls;
    calls = bumpCalls(run.threads() == 1);
    Simulation other(bodies, run.seed());
    simulate(run, other);
    for (std::uint64_t at = 0; at < bodies; ++at) {
        if (!simulation.sameBody(other, at)) {
            notVerified("body %llu is elsewhere than on the bump pointer",
                        static_cast<unsigned long long>(at));
        }
    }
    other.clear();
    calls = before;
}

void body(Run& run) {
    Simulation simulation(bodies, run.seed());
    simulate(run, simulation);
    run.report("objects", static_cast<double>(simulation.objects()));
    run.report("energy", simulation.energy());
    if (run.verifying()) {
        // Plummer's sphere in these units has -0.147 (3π/64), slightly less because of the
        // softening.
        if (bodies >= 1000 && std::fabs(simulation.energy() + 0.147) > 0.02) {
            notVerified("the energy has become %g", simulation.energy());
        }
        checkAgainstAnother(run, simulation);
    }
    run.count(2 * simulation.objects());
    simulation.clear();
}

} // namespace

int main(int argc, char** argv) {
    Description description{"barnes-hut",
                            "n bodies: a tree of small objects is built and freed in each round",
                            "--scale 4 (Berger 2002: 1,172,624 objects of 39 bytes on average)",
                            2,
                            Contents::Program,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
