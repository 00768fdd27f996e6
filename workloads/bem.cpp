// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// bem: the charge of a conducting sphere. Its surface is divided into panels, and the effect of
// each panel's charge on each other panel makes a dense matrix. There are three parts, as in a
// boundary-element engine. The equations are registered row by row, in blocks of columns that are
// separate objects, with short-lived lists of quadrature points. A preconditioner is made from the
// diagonal blocks. Conjugate gradients solve the system, with new vectors in each step. Most
// objects are of moderate size. Some live to the end, and six of seven only briefly. With `--phase
// solver` only the conjugate gradients are measured. The threads prepare the equations before.
// Source: the description of BEMengine in Berger 2002, a commercial product. This is an independent
// program on the same kind of problem.
#include "boundary/equations.hpp"
#include "support/bump.hpp"
#include "support/program.hpp"

#include <cmath>

namespace {

using namespace heapwright::workloads;

const char* const phases[] = {"all", "solver", nullptr};

Parameter parameters[] = {
    {"panels", 1200, 24, 20'000, true, "about 8,600 (599 MB live, 18,366,795 objects)",
     "panels of the surface; memory and time grow with their square"},
    {"steps", 200, 1, 100'000, false, "", "steps of the solver at most"},
    {"phase", 0, 0, std::size(phases) - 2, false, "", "the measured part", phases},
};
const std::uint64_t& panels = parameters[0].value;
const std::uint64_t& steps = parameters[1].value;
const std::uint64_t& phase = parameters[2].value;

struct Solution {
    double charge = 0;
    std::uint64_t prepared = 0; ///< objects that were allocated before the measured part
};

/// Runs the whole program on one set of equations.
Solution solve(Run& run, Equations& equations) {
    Barrier barrier(run.threads());
    Solution solution;
    const auto prepare = [&](unsigned thread) {
        equations.enter(thread, run.threads());
        barrier.wait();
        equations.precondition(thread, run.threads());
        barrier.wait();
    };
    const auto iterate = [&](unsigned thread) {
        if (thread == 0) {
            equations.begin();
        }
        barrier.wait();
        for (std::uint64_t step = 0; step < steps && !equations.solved(); ++step) {
            equations.multiply(thread, run.threads());
            barrier.wait();
            if (thread == 0) {
                equations.advance();
            }
            barrier.wait();
        }
        if (thread == 0) {
            solution.charge = equations.charge();
        }
    };
    if (phase == 0) {
        run.parallel([&](unsigned thread) {
            prepare(thread);
            iterate(thread);
        });
    } else {
        run.prepare(prepare);
        solution.prepared = equations.objects();
        run.parallel(iterate);
    }
    return solution;
}

void body(Run& run) {
    Equations equations(panels, run.seed());
    const auto [charge, prepared] = solve(run, equations);
    run.report("charge", charge);
    run.report("objects", static_cast<double>(equations.objects()));
    run.count(2 * (equations.objects() - prepared));
    equations.clear();
    if (!run.verifying()) {
        return;
    }
    // A sphere of radius 1 at potential 1 holds charge 1; this number of panels approximates it
    // within this bound.
    if (std::fabs(charge - 1) > 2 / std::sqrt(static_cast<double>(panels))) {
        notVerified("the sphere's charge is %g and not 1", charge);
    }
    const Calls before = calls;
    calls = bumpCalls(run.threads() == 1);
    Equations other(panels, run.seed());
    const double again = solve(run, other).charge;
    other.clear();
    calls = before;
    if (again != charge) {
        notVerified("the charge is %.17g, and %.17g on the bump pointer", charge, again);
    }
}

} // namespace

int main(int argc, char** argv) {
    Description description{"bem",
                            "dense boundary elements: set up and solve, objects of moderate size",
                            "--panels 8600 (Berger 2002: BEMengine, table 7.3); needs 650 MB",
                            2,
                            Contents::Program,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
