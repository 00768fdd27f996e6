// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "explorer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <random>

namespace heapwright::testing::model {
namespace {

constexpr std::size_t mostThreads = 8;
using Threads = std::uint32_t; ///< a bit for each
using Clock = std::array<std::uint32_t, mostThreads>;

constexpr Threads bitOf(std::size_t thread) {
    return Threads{1} << thread;
}

/// The first thread of a set, the one that went last before others: few changes make a run short.
std::size_t easiest(std::size_t last, Threads among) {
    return (among & bitOf(last)) != 0 ? last : static_cast<std::size_t>(std::countr_zero(among));
}

/// A state on the way of the present run, and the step that was taken from it.
struct Node {
    Threads enabled = 0;
    Threads toTry = 0;  ///< whose step from here is to be tried
    Threads asleep = 0; ///< whose step from here leads to nothing new
    std::size_t last = 0;
    std::size_t preemptions = 0; ///< up to here
    std::size_t chosen = 0;
    Operation operation; ///< of the step
    bool timed = false;  ///< whether there is a clock yet
    Clock clock{};       ///< of the step: how many steps of each thread come before it, or are it
};

class Explorer {
public:
    explicit Explorer(const Options& options) : options_(options) {}

    Exploration operator()(const Maker& make) {
        Exploration found;
        while (found.runs + found.cut < options_.mostRuns) {
            depth_ = 0;
            resting_ = false;
            clocks_ = {};
            std::unique_ptr<Scenario> scenario = make();
            const Run::Outcome outcome =
                Run::of(*scenario, [this](const Run::View& view) { return choose(view); });
            ++(resting_ ? found.cut : found.runs);
            found.steps += outcome.schedule.size();
            if (!outcome.failure.empty()) {
                static_cast<void>(scenario.release()); // threads are still inside
                found.failure = outcome.failure;
                found.schedule = toText(outcome.schedule);
                found.trace = Run::trace(outcome);
                return found;
            }
            if (!prepareNext()) {
                found.complete = true;
                return found;
            }
        }
        return found;
    }

private:
    [[nodiscard]] bool reduces() const { return options_.reduction == Reduction::dynamic; }

    std::size_t choose(const Run::View& view) {
        if (!resting_ && depth_ == nodes_.size()) {
            arrive(view);
        }
        if (resting_) { // nothing new can come of this run: to its end without more ado
            return easiest(view.last, view.enabled);
        }
        Node& node = nodes_[depth_];
        if (node.enabled != view.enabled) {
            return mostThreads; // the scenario does something else than before: no such thread
        }
        node.operation = view.next[node.chosen];
        if (reduces() && !node.timed) {
            findRaces(node);
        }
        keepTime(node);
        ++depth_;
        return node.chosen;
    }

    /// A state that was not visited before.
    void arrive(const Run::View& view) {
        Node node;
        node.enabled = view.enabled;
        node.last = view.last;
        if (reduces()) {
            node.asleep = stillAsleep(view);
            const Threads awake = node.enabled & ~node.asleep;
            if (awake == 0) {
                resting_ = true;
                return;
            }
            node.chosen = easiest(view.last, awake);
            node.toTry = bitOf(node.chosen);
        } else {
            node.preemptions = preemptions();
            node.toTry = unreduced(view, node);
            node.chosen = easiest(view.last, node.toTry);
        }
        nodes_.push_back(node);
    }

    /// How many times in the run so far a thread was left that could have gone on. Where threads
    /// begin nothing is left yet.
    [[nodiscard]] std::size_t preemptions() const {
        if (depth_ < 2 || nodes_[depth_ - 2].operation.address == nullptr) {
            return 0;
        }
        const Node& before = nodes_[depth_ - 1];
        const bool left =
            before.chosen != before.last && (before.enabled & bitOf(before.last)) != 0;
        return before.preemptions + (left ? 1U : 0U);
    }

    /// All threads that can continue, except those whose turn would be one preemption too many. A
    /// thread that only begins does so at once.
    [[nodiscard]] Threads unreduced(const Run::View& view, const Node& node) const {
        for (std::size_t thread = 0; thread < view.threads; ++thread) {
            if ((view.enabled & bitOf(thread)) != 0 && view.next[thread].address == nullptr) {
                return bitOf(thread);
            }
        }
        const Threads last = view.enabled & bitOf(view.last);
        return last != 0 && node.preemptions >= options_.preemptions ? last : view.enabled;
    }

    /// The threads that slept in the state before, unless the step from there was one that wakes
    /// them.
    [[nodiscard]] Threads stillAsleep(const Run::View& view) const {
        if (depth_ == 0) {
            return 0;
        }
        const Node& before = nodes_[depth_ - 1];
        Threads asleep = before.asleep & ~bitOf(before.chosen);
        for (std::size_t thread = 0; thread < view.threads; ++thread) {
            if (areDependent(view.next[thread], before.operation)) {
                asleep &= ~bitOf(thread);
            }
        }
        return asleep;
    }

    /// Looks which steps of others so far could as well have come after the step from `node`, and
    /// has the other order tried.
    void findRaces(const Node& node) {
        for (std::size_t at = depth_; at-- > 0;) {
            const Node& step = nodes_[at];
            if (step.chosen != node.chosen && isRace(step, node) && !comesBefore(step, node)) {
                bool between = false; // is there another step by which the two are in order
                for (std::size_t other = at + 1; other < depth_ && !between; ++other) {
                    between = isRace(nodes_[other], node) && precedes(step, nodes_[other]);
                }
                if (!between && step.operation.event == Event::written &&
                    node.operation.event == Event::written) {
                    fail("two threads write to a word, and nothing says who is first");
                }
                if (!between) {
                    reverse(at, node);
                }
            }
        }
    }

    /// Whether the later of two steps could have come first, which would make a difference.
    static bool isRace(const Node& step, const Node& later) {
        return areDependent(step.operation, later.operation) &&
               canBeSwapped(step.operation, later.operation);
    }

    /// Whether a step comes before a later one in all orders that are the same as this one.
    static bool precedes(const Node& step, const Node& later) {
        return step.clock[step.chosen] <= later.clock[step.chosen];
    }

    /// The same, for a step that is about to be taken: what its thread has seen so far.
    [[nodiscard]] bool comesBefore(const Node& step, const Node& next) const {
        return step.clock[step.chosen] <= clocks_[next.chosen][step.chosen];
    }

    /// The step from `node` is to come before the one from the node `at`. So the new order has all
    /// steps between that do not depend on it, and then this step. One of those that can begin this
    /// must be tried there.
    void reverse(std::size_t at, const Node& node) {
        Threads moved = 0; // the thread that took a step in between that is possible anyway
        Threads first = 0; // … and whose first such step waits for no other of them
        bool nodeIsFirst = true;
        for (std::size_t later = at + 1; later < depth_; ++later) {
            const Node& step = nodes_[later];
            if (precedes(nodes_[at], step)) {
                continue;
            }
            bool waits = (moved & bitOf(step.chosen)) != 0;
            for (std::size_t other = at + 1; other < later && !waits; ++other) {
                waits = !precedes(nodes_[at], nodes_[other]) && precedes(nodes_[other], step);
            }
            moved |= bitOf(step.chosen);
            first |= waits ? 0 : bitOf(step.chosen);
            nodeIsFirst = nodeIsFirst && !comesBefore(step, node) &&
                          !areDependent(step.operation, node.operation);
        }
        if (nodeIsFirst && (moved & bitOf(node.chosen)) == 0) {
            first |= bitOf(node.chosen);
        }
        Node& there = nodes_[at];
        if ((first & there.toTry) == 0) {
            there.toTry |= bitOf(static_cast<std::size_t>(std::countr_zero(first)));
        }
    }

    /// The step from a node gets its clock, and its thread that time.
    void keepTime(Node& node) {
        Clock& clock = clocks_[node.chosen];
        if (reduces() && !node.timed) {
            for (std::size_t at = 0; at < depth_; ++at) {
                if (areDependent(nodes_[at].operation, node.operation)) {
                    for (std::size_t thread = 0; thread < mostThreads; ++thread) {
                        clock[thread] = std::max(clock[thread], nodes_[at].clock[thread]);
                    }
                }
            }
            ++clock[node.chosen];
            node.clock = clock;
            node.timed = true;
        }
        clock = node.clock;
    }

    /// The deepest state with something left to try; false if there is none.
    bool prepareNext() {
        for (; !nodes_.empty(); nodes_.pop_back()) {
            Node& node = nodes_.back();
            node.asleep |= bitOf(node.chosen);
            if (const Threads left = node.toTry & ~node.asleep; left != 0) {
                node.chosen = easiest(node.last, left);
                node.timed = false;
                return true;
            }
        }
        return false;
    }

    Options options_;
    std::vector<Node> nodes_;
    std::size_t depth_ = 0; ///< how many steps the run has taken
    std::array<Clock, mostThreads> clocks_{};
    bool resting_ = false;
};

} // namespace

Exploration explore(const Maker& make, const Options& options) {
    return Explorer(options)(make);
}

Contention sample(const Maker& make, std::size_t runs, std::uint32_t seed) {
    Contention sum;
    std::minstd_rand random(seed);
    for (std::size_t run = 0; run < runs && sum.failure.empty(); ++run) {
        std::unique_ptr<Scenario> scenario = make();
        const Run::Outcome outcome = Run::of(*scenario, [&random](const Run::View& view) {
            Threads among = view.enabled;
            for (auto skip = random() % static_cast<unsigned>(std::popcount(among)); skip > 0;
                 --skip) {
                among &= among - 1;
            }
            return static_cast<std::size_t>(std::countr_zero(among));
        });
        sum.lockTakes += outcome.lockTakes;
        sum.lockFailures += outcome.lockFailures;
        sum.failure = outcome.failure;
        if (!sum.failure.empty()) {
            static_cast<void>(scenario.release());
        }
    }
    return sum;
}

Exploration replay(const Maker& make, const std::string& schedule) {
    const Schedule steps = toSchedule(schedule);
    std::size_t at = 0;
    std::unique_ptr<Scenario> scenario = make();
    const Run::Outcome outcome = Run::of(*scenario, [&](const Run::View& view) {
        return at < steps.size() ? steps[at++] : easiest(view.last, view.enabled);
    });
    if (!outcome.failure.empty()) {
        static_cast<void>(scenario.release());
    }
    return {.runs = 1,
            .cut = 0,
            .steps = outcome.schedule.size(),
            .complete = true,
            .failure = outcome.failure,
            .schedule = toText(outcome.schedule),
            .trace = Run::trace(outcome)};
}

} // namespace heapwright::testing::model
