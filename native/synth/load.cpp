// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// As a rule, one thing happens at each tick of the clock, so that lifetimes are in calls. It is a
// free if one is due, else an allocation. Where allocations would run away from the plan or fall
// behind it, one more is made, or none. So nothing drifts, and what was fitted to the plan's clock
// needs no correction.
#include "synth/load.hpp"

#include "synth/fenwick_sampler.hpp"
#include "synth/timing_wheel.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heapwright::synth {

namespace {

class Load {
public:
    Load(const Plan& plan, Output& output) : plan_(plan), output_(output), random_(plan.seed) {}

    void run() {
        for (const Phase& phase : plan_.phases)
            perform(phase);
        for (Block block; wheel_.takeEarliest(block);)
            output_.free(block);
        for (const Block& block : kept_)
            output_.free(block);
    }

private:
    /// By how many allocations a phase may be ahead or behind of an even pace.
    static constexpr double slack = 64;

    void perform(const Phase& phase) {
        FenwickSampler urn(phase.counts);
        const std::uint64_t all = urn.left();
        working_ = AliasTable(weightsIn(phase));
        const double tick = phase.nanoseconds / static_cast<double>(phase.operations);
        const double perTick = static_cast<double>(all) / static_cast<double>(phase.operations);
        output_.pace(tick / 2);
        for (std::uint64_t operation = 1; operation <= phase.operations; ++operation) {
            wheel_.advance();
            output_.passTo(time_ + tick * static_cast<double>(operation));
            const double due = perTick * static_cast<double>(operation);
            const double ahead = static_cast<double>(all - urn.left()) - due;
            const bool freed = wheel_.ready();
            if (freed)
                end(wheel_.take(), phase, urn);
            if (urn.left() != 0 && (freed ? ahead < -slack : ahead < slack))
                allocate(phase.cells[urn.draw(random_)], phase.handing);
        }
        while (urn.left() != 0)
            allocate(phase.cells[urn.draw(random_)], phase.handing);
        time_ += phase.nanoseconds;
    }

    /// A thread's part of a phase: its weight times the share of the phase that it lives through.
    std::vector<double> weightsIn(const Phase& phase) const {
        const std::uint64_t from = wheel_.now();
        const std::uint64_t to = from + phase.operations;
        std::vector<double> weights;
        for (const Thread& thread : plan_.threads) {
            const std::uint64_t begins = std::max(from, thread.begins);
            const std::uint64_t ends = std::min(to, thread.ends);
            const double lived = begins < ends ? static_cast<double>(ends - begins) : 0;
            weights.push_back(thread.weight * lived);
        }
        return weights;
    }

    std::uint32_t someThread() {
        return working_.empty() ? 0 : static_cast<std::uint32_t>(working_.draw(random_));
    }

    /// A block whose time has come is freed, or becomes the next one that the phase makes.
    void end(const Block& block, const Phase& phase, FenwickSampler& urn) {
        if (urn.left() == 0 || plan_.moves == 0 || !random_.chance(plan_.moves)) {
            output_.free(block);
            return;
        }
        const Cell cell = phase.cells[urn.draw(random_)];
        settle(output_.reallocate(block, sizeOf(plan_.bands[cell.band])), cell, phase.handing);
    }

    void allocate(const Cell& cell, double handing) {
        freeNulls();
        const std::uint64_t size = sizeOf(plan_.bands[cell.band]);
        settle(output_.allocate(someThread(), request(size)), cell, handing);
    }

    /// As many as there are for each allocation; of a fraction, by chance.
    void freeNulls() {
        double due = plan_.nullFrees;
        for (; due >= 1; --due)
            output_.freeNull(someThread());
        if (due > 0 && random_.chance(due))
            output_.freeNull(someThread());
    }

    std::uint64_t sizeOf(const Band& band) {
        const Sizes& sizes = band.sizes[band.which.draw(random_)];
        return sizes.low + sizes.step * random_.below((sizes.high - sizes.low) / sizes.step + 1);
    }

    Request request(std::uint64_t size) {
        const Choice& choice = plan_.routines[plan_.whichRoutine.draw(random_)];
        return {choice.routine, size, choice.alignment};
    }

    std::uint32_t enderOf(std::uint32_t owner, double likelier) {
        const Thread& thread = plan_.threads[owner];
        if (thread.which.empty() || !random_.chance(thread.hands * likelier))
            return owner;
        return thread.takers[thread.which.draw(random_)];
    }

    void settle(Block block, const Cell& cell, double handing) {
        block.ender = enderOf(block.ender, plan_.bands[cell.band].handing * handing);
        const Lifetime& lifetime = plan_.lifetimes[cell.lifetime];
        if (lifetime.kind == Lifetime::Kind::end)
            kept_.push_back(block);
        else if (lifetime.kind == Lifetime::Kind::operations)
            wheel_.add(wheel_.now() + random_.between(lifetime.low, lifetime.high), block);
    }

    const Plan& plan_;
    Output& output_;
    Random random_;
    TimingWheel wheel_;
    AliasTable working_;      ///< the threads of the phase
    double time_ = 0;         ///< ns at the beginning of the phase
    std::vector<Block> kept_; ///< to be freed at the end
};

} // namespace

void generate(const Plan& plan, Output& output) {
    Load(plan, output).run();
}

} // namespace heapwright::synth
