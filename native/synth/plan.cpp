// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a plan: words and numbers between blanks. Every list says its length first, and no list may
// be longer than its limit, so that a damaged text costs no memory.
#include "synth/plan.hpp"

#include "synth/address_space.hpp"
#include "synth/token_reader.hpp"

#include <bit>
#include <istream>
#include <limits>

namespace heapwright::synth {

namespace {

constexpr std::uint64_t maxOperations = std::uint64_t{1} << 48U;
constexpr std::uint64_t mostRoutines = 64;
constexpr std::uint64_t mostBands = 4096;
constexpr std::uint64_t mostSizes = 1U << 20U;
constexpr std::uint64_t mostLifetimes = 256;
constexpr std::uint64_t mostThreads = 1U << 20U;
constexpr std::uint64_t mostTakers = 1U << 20U;
constexpr std::uint64_t mostPhases = 1U << 16U;
constexpr double longestNanoseconds = 1e18;
constexpr double heaviest = 1e18;

using PlanWords = TokenReader<PlanError>;

void readRoutines(PlanWords& words, Plan& plan) {
    words.expect("routines");
    std::vector<double> weights(words.whole(1, mostRoutines));
    for (double& weight : weights) {
        const auto number = static_cast<unsigned>(words.whole(0, 255));
        const std::uint64_t alignment = words.whole(0, 1U << 21U);
        weight = words.real(heaviest);
        const auto routine = static_cast<trace::Routine>(number);
        if (!trace::isRoutine(number) || trace::isFree(routine))
            words.fail("there is no allocating routine " + std::to_string(number));
        if (trace::hasAlignment(routine) ? !std::has_single_bit(alignment) : alignment != 0)
            words.fail("routine " + std::to_string(number) + " cannot have that alignment");
        plan.routines.push_back({routine, alignment});
    }
    plan.whichRoutine = AliasTable(weights);
    if (plan.whichRoutine.empty())
        words.fail("no routine has a weight");
}

void readBands(PlanWords& words, Plan& plan) {
    words.expect("bands");
    plan.bands.resize(words.whole(1, mostBands));
    for (Band& band : plan.bands) {
        words.expect("band");
        band.handing = words.real(heaviest);
        std::vector<double> weights(words.whole(1, mostSizes));
        for (double& weight : weights) {
            const std::uint64_t low = words.whole(0, AddressSpace::maxSize);
            const std::uint64_t high = words.whole(low, AddressSpace::maxSize);
            band.sizes.push_back({low, high, words.whole(1, AddressSpace::maxSize)});
            weight = words.real(heaviest);
        }
        band.which = AliasTable(weights);
        if (band.which.empty())
            words.fail("no size has a weight");
    }
}

void readLifetimes(PlanWords& words, Plan& plan) {
    words.expect("lifetimes");
    plan.lifetimes.resize(words.whole(1, mostLifetimes));
    for (Lifetime& lifetime : plan.lifetimes) {
        lifetime.kind = static_cast<Lifetime::Kind>(words.whole(0, 2));
        if (lifetime.kind == Lifetime::Kind::operations) {
            lifetime.low = words.whole(1, maxOperations);
            lifetime.high = words.whole(lifetime.low, maxOperations);
        }
    }
}

void readThreads(PlanWords& words, Plan& plan) {
    words.expect("threads");
    plan.threads.resize(words.whole(1, mostThreads));
    for (Thread& thread : plan.threads) {
        thread.weight = words.real(heaviest);
        thread.begins = words.whole(0, maxOperations);
        thread.ends = words.whole(thread.begins, maxOperations);
        thread.hands = words.real(1);
        std::vector<double> weights(words.whole(0, mostTakers));
        for (double& weight : weights) {
            const std::uint64_t taker = words.whole(0, plan.threads.size() - 1);
            thread.takers.push_back(static_cast<std::uint32_t>(taker));
            weight = words.real(heaviest);
        }
        thread.which = AliasTable(weights);
    }
}

void readCells(PlanWords& words, const Plan& plan, Phase& phase) {
    phase.counts.resize(words.whole(0, mostBands * mostLifetimes));
    std::uint64_t left = maxOperations;
    for (std::uint64_t& count : phase.counts) {
        const std::uint64_t band = words.whole(0, plan.bands.size() - 1);
        const std::uint64_t lifetime = words.whole(0, plan.lifetimes.size() - 1);
        phase.cells.push_back(
            {static_cast<std::uint32_t>(band), static_cast<std::uint32_t>(lifetime)});
        count = words.whole(0, left);
        left -= count;
    }
}

void readPhases(PlanWords& words, Plan& plan) {
    words.expect("phases");
    plan.phases.resize(words.whole(1, mostPhases));
    std::uint64_t left = maxOperations;
    for (Phase& phase : plan.phases) {
        words.expect("phase");
        phase.operations = words.whole(1, left);
        left -= phase.operations;
        phase.nanoseconds = words.real(longestNanoseconds);
        phase.handing = words.real(heaviest);
        readCells(words, plan, phase);
    }
}

} // namespace

Plan readPlan(std::istream& text) {
    PlanWords words(text, "the plan");
    Plan plan;
    words.expect("heapwright-plan");
    words.whole(1, 1);
    words.expect("seed");
    plan.seed = words.whole(0, std::numeric_limits<std::uint64_t>::max());
    words.expect("null-frees");
    plan.nullFrees = words.real(1e6);
    words.expect("moves");
    plan.moves = words.real(1);
    readRoutines(words, plan);
    readBands(words, plan);
    readLifetimes(words, plan);
    readThreads(words, plan);
    readPhases(words, plan);
    words.expect("end");
    return plan;
}

} // namespace heapwright::synth
