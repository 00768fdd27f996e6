// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The clock is that of the operations which the plan has, not of those that come about: what was
// fitted to such a clock then needs no correction, and nothing drifts.
#include "synthesis/load.hpp"

#include "synthesis/agenda.hpp"
#include "synthesis/urn.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heapwright::synthesis {

namespace {

class Load {
public:
    Load(const Plan& plan, Output& output) : plan_(plan), output_(output), random_(plan.seed) {}

    void run() {
        for (const Phase& phase : plan_.phases)
            perform(phase);
        for (Block block; agenda_.takeSoon(block);)
            output_.free(block);
        for (const Block& block : kept_)
            output_.free(block);
    }

private:
    void perform(const Phase& phase) {
        Urn urn(phase.counts);
        const std::uint64_t all = urn.left();
        const std::vector<double> weights = weightsIn(phase);
        working_ = Lottery(weights);
        const double tick = phase.nanoseconds / static_cast<double>(phase.operations);
        output_.pace(tick / 2);
        const double perTick = static_cast<double>(all) / static_cast<double>(phase.operations);
        for (std::uint64_t operation = 1; operation <= phase.operations; ++operation) {
            agenda_.advance();
            output_.passTo(time_ + tick * static_cast<double>(operation));
            while (agenda_.ready())
                output_.free(agenda_.take());
            const bool last = operation == phase.operations;
            const double due =
                last ? static_cast<double>(all) : perTick * static_cast<double>(operation);
            while (urn.left() != 0 && static_cast<double>(all - urn.left()) < due)
                allocate(phase.cells[urn.draw(random_)], phase.handing);
        }
        time_ += phase.nanoseconds;
    }

    /// A thread's part of a phase: its weight times the share of the phase that it lives through.
    std::vector<double> weightsIn(const Phase& phase) const {
        const std::uint64_t from = agenda_.now();
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

    void allocate(const Cell& cell, double handing) {
        freeNulls();
        const Band& band = plan_.bands[cell.band];
        const std::uint64_t size = sizeOf(band);
        Block block;
        Block old;
        if (plan_.moves > 0 && random_.chance(plan_.moves) && agenda_.takeSoon(old))
            block = output_.reallocate(old, size);
        else
            block = output_.allocate(someThread(), request(size));
        block.ender = enderOf(block.ender, band.handing * handing);
        settle(block, plan_.lifetimes[cell.lifetime]);
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

    void settle(const Block& block, const Lifetime& lifetime) {
        if (lifetime.kind == Lifetime::Kind::end)
            kept_.push_back(block);
        else if (lifetime.kind == Lifetime::Kind::operations)
            agenda_.add(agenda_.now() + random_.between(lifetime.low, lifetime.high), block);
    }

    const Plan& plan_;
    Output& output_;
    Random random_;
    Agenda agenda_;
    Lottery working_;         ///< the threads of the phase
    double time_ = 0;         ///< ns at the beginning of the phase
    std::vector<Block> kept_; ///< to be freed at the end
};

} // namespace

void generate(const Plan& plan, Output& output) {
    Load(plan, output).run();
}

} // namespace heapwright::synthesis
