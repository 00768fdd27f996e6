// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws traffic from a load. Each operation begins one activity on a random processor. Objects
// whose lifetime has ended are freed before it, in the order of their ends.
// Cost: memory for the events and the live objects.
#include "kernelsim/load.hpp"

#include <heapwright/core/random.hpp>
#include <heapwright/structure/kernel/page_section.hpp>

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>
#include <utility>

namespace heapwright::kernelsim {

namespace {

using Verb = Event::Verb;

class Drawing {
public:
    Drawing(const Load& load, std::size_t processors, std::uint64_t seed)
        : load_(load), random_(seed) {
        traffic_.processors = processors;
        traffic_.memory = load.memory;
        traffic_.caches = load.caches;
        double sum = 0;
        for (const Activity& activity : load.activities)
            borders_.push_back(sum += activity.weight);
    }

    Traffic draw() {
        fill();
        traffic_.prelude = traffic_.events.size();
        double time = 0;
        for (now_ = 1; now_ <= load_.operations; ++now_) {
            time += exponential(load_.nanoseconds);
            time_ = static_cast<std::uint64_t>(time) + 1;
            endWhatIsDue();
            begin(load_.activities[drawActivity()]);
            if (load_.reclaimEvery != 0 && now_ % load_.reclaimEvery == 0) {
                Event event = at(drawProcessor(), Verb::reclaim);
                event.what = static_cast<std::uint32_t>(load_.reclaimPages);
                push(event);
            }
        }
        traffic_.places = dealt_;
        return std::move(traffic_);
    }

private:
    struct Due {
        std::uint64_t operation;
        std::uint64_t turn; ///< orders those with the same end by their allocation
        std::uint32_t place;
        std::uint8_t processor;

        friend bool operator<(const Due& one, const Due& other) { // the first is the largest
            return std::tie(one.operation, one.turn) > std::tie(other.operation, other.turn);
        }
    };

    /// Movable pages over a share of the memory, some of them free again: holes between them.
    void fill() {
        const double pages = static_cast<double>(load_.memory) * 256;
        const auto count = static_cast<std::uint64_t>(pages * load_.fill);
        std::vector<std::uint32_t> given;
        for (std::uint64_t each = 0; each < count; ++each) {
            Event event = at(drawProcessor(), Verb::pages);
            event.mobility = static_cast<std::uint8_t>(Mobility::movable);
            event.place = dealt_++;
            push(event);
            if (random_.chance(load_.holes))
                given.push_back(event.place);
        }
        for (const std::uint32_t place : given)
            give(place, drawProcessor());
    }

    void begin(const Activity& activity) {
        const std::uint8_t processor = drawProcessor();
        const Life life = settled(activity.life);
        const std::uint8_t ending = otherProcessor(processor, activity.elsewhere);
        for (const Part& part : activity.parts) {
            const std::uint64_t count = random_.between(part.leastCount, part.mostCount);
            for (std::uint64_t each = 0; each < count; ++each) {
                const bool with = part.life.kind == Life::Kind::with;
                const Life own = with ? life : settled(part.life);
                take(part, own, processor,
                     with ? ending : otherProcessor(processor, activity.elsewhere));
            }
        }
    }

    void take(const Part& part, const Life& life, std::uint8_t processor, std::uint8_t ending) {
        Event event = at(processor, part.verb);
        event.place = freshPlace();
        event.order = part.order;
        event.mobility = part.mobility;
        event.droppable = life.kind == Life::Kind::dropped;
        event.what =
            part.verb == Verb::general
                ? static_cast<std::uint32_t>(random_.between(part.leastSize, part.mostSize))
                : part.cache;
        push(event);
        if (life.kind == Life::Kind::between)
            due_.push({now_ + life.least, turn_++, event.place, ending});
    }

    void endWhatIsDue() {
        while (!due_.empty() && due_.top().operation <= now_) {
            const Due due = due_.top();
            due_.pop();
            give(due.place, due.processor);
        }
    }

    void give(std::uint32_t place, std::uint8_t processor) {
        Event event = at(processor, Verb::give);
        event.place = place;
        push(event);
        spare_.push_back(place);
    }

    /// A lifetime with its length drawn, if it has one: between `least` and `most`, which are then
    /// equal.
    Life settled(const Life& life) {
        Life drawn = life;
        if (life.kind == Life::Kind::mean) {
            drawn.kind = Life::Kind::between;
            drawn.least = static_cast<std::uint64_t>(exponential(static_cast<double>(life.least)));
        } else if (life.kind == Life::Kind::between) {
            drawn.least = random_.between(life.least, life.most);
        }
        ++drawn.least; // nothing ends in the operation in which it began
        return drawn;
    }

    double exponential(double mean) { return -mean * std::log1p(-random_.real()); }

    std::size_t drawActivity() {
        const double point = random_.real() * borders_.back();
        const auto found = std::upper_bound(borders_.begin(), borders_.end(), point);
        return static_cast<std::size_t>(std::min(found, borders_.end() - 1) - borders_.begin());
    }

    std::uint8_t drawProcessor() {
        return static_cast<std::uint8_t>(random_.below(traffic_.processors));
    }

    std::uint8_t otherProcessor(std::uint8_t processor, double chance) {
        if (traffic_.processors == 1 || !random_.chance(chance))
            return processor;
        const std::uint64_t further = 1 + random_.below(traffic_.processors - 1);
        return static_cast<std::uint8_t>((processor + further) % traffic_.processors);
    }

    std::uint32_t freshPlace() {
        if (spare_.empty())
            return dealt_++;
        const std::uint32_t place = spare_.back();
        spare_.pop_back();
        return place;
    }

    Event at(std::uint8_t processor, Verb verb) const {
        Event event;
        event.time = time_;
        event.processor = processor;
        event.verb = verb;
        return event;
    }

    void push(const Event& event) {
        if (traffic_.events.size() == mostEvents)
            throw LoadError("the load has too many events; it wants fewer operations");
        traffic_.events.push_back(event);
    }

    const Load& load_;
    Random random_;
    Traffic traffic_;
    std::vector<double> borders_; ///< sums of the weights
    std::priority_queue<Due> due_;
    std::vector<std::uint32_t> spare_;
    std::uint32_t dealt_ = 0;
    std::uint64_t now_ = 0;
    std::uint64_t time_ = 0;
    std::uint64_t turn_ = 0;
};

} // namespace

Traffic draw(const Load& load, std::size_t processors, std::uint64_t seed) {
    return Drawing(load, processors, seed).draw();
}

} // namespace heapwright::kernelsim
