// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs traffic on a machine with one object allocator and samples it.
//
// Droppable objects are dropped in the order of their allocation, in three cases. Free memory falls
// below 1/32 (until it reaches 1/16), a request fails after the caches were shrunk, or the traffic
// requests it. Each object is written when it is allocated and checked when it is freed. So an
// allocator that returns a live object, or loses constructed contents, is detected. Time is
// processor time between samples, so that sampling does not count. The prelude does not count
// either. `Objects` is one of the kernel's heaps over `MachinePages`.
#pragma once

#include "kernelsim/machine.hpp"
#include "kernelsim/object_contents.hpp"
#include "kernelsim/observer.hpp"
#include "kernelsim/outcome.hpp"
#include "kernelsim/traffic.hpp"

#include <heapwright/core/bulk.hpp>

#include <algorithm>
#include <ctime>
#include <deque>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace heapwright::kernelsim {

template <class Objects>
class Run {
    using Cache = typename Objects::Cache;
    using Verb = Event::Verb;
    struct alignas(64) OnLines : Objects {};

public:
    Run(const Traffic& traffic, std::size_t samples)
        : traffic_(traffic), machine_(traffic.memory, traffic.freePages, traffic.processors),
          heap_(std::make_unique<OnLines>()), slots_(traffic.places) {
        if constexpr (observed)
            observer::watch(heap_.get(), sizeof(*heap_));
        const std::size_t timed = traffic.events.size() - traffic.prelude;
        interval_ = std::max<std::size_t>(1, timed / std::max<std::size_t>(1, samples));
    }

    Outcome run() {
        makeCaches();
        const std::vector<Event>& events = traffic_.events;
        for (std::size_t at = 0; at < traffic_.prelude; ++at)
            carryOut(events[at]);
        const PageFallbacks before = machine_.pages().fallbacks();
        sample(0);
        measured_ = true;
        for (std::size_t at = traffic_.prelude; at < events.size();) {
            const std::size_t end = stretch(at);
            const std::clock_t began = std::clock();
            for (; at < end; ++at)
                carryOut(events[at]);
            clock_ += std::clock() - began;
            sample(events[at - 1].time);
            if (events[at - 1].verb == Verb::mark)
                outcome_.samples.back().recorded = traffic_.marks[events[at - 1].what];
        }
        measured_ = false;
        finish(before);
        tearDown();
        return std::move(outcome_);
    }

private:
    struct Slot {
        enum class Kind : std::uint8_t { empty, object, general, pages };
        void* object = nullptr;
        Page* page = nullptr;
        std::uint32_t what = 0;
        std::uint32_t turn = 0; ///< of the droppable objects
        Kind kind = Kind::empty;
        std::uint8_t processor = 0;
    };

    // --- caches ---

    void makeCaches() {
        for (const CacheKind& kind : traffic_.caches) {
            const std::size_t before = machine_.slabPages();
            Cache* const cache = heap_->createCache(traitsOf(kind));
            if (cache == nullptr)
                throw std::runtime_error("the simulated machine has no memory for its caches");
            caches_.push_back(cache);
            if constexpr (apart)
                outcome_.cachePages += machine_.slabPages() - before;
        }
    }

    /// Whether a cache's descriptor has pages of its own. In all models except SLOB, where it is an
    /// object.
    static constexpr bool apart = requires(Cache& cache) { cache.slab; };

    std::uint64_t slabPages() const { return machine_.slabPages() - outcome_.cachePages; }

    // --- events ---

    /// The end of the events from `at` that run without a sample: a mark, or the next sample.
    std::size_t stretch(std::size_t at) const {
        const std::vector<Event>& events = traffic_.events;
        const std::size_t most = std::min(at + interval_, events.size());
        while (at < most)
            if (events[at++].verb == Verb::mark)
                break;
        return at;
    }

    void carryOut(const Event& event) {
        MachineProcessors::now = event.processor;
        switch (event.verb) {
        case Verb::take:
        case Verb::general:
        case Verb::pages:
            takeSomething(event);
            break;
        case Verb::give:
            give(event.place);
            break;
        case Verb::shrink:
            shrink(event.what);
            break;
        case Verb::reclaim:
            drop(machine_.freePages() + event.what);
            shrink(Event::allCaches);
            break;
        case Verb::mark:
            break;
        }
    }

    void takeSomething(const Event& event) {
        if (!droppable_.empty() && machine_.freePages() < machine_.usablePages() / 32)
            drop(machine_.usablePages() / 16);
        bool done = take(event);
        if (!done) {
            shrink(Event::allCaches);
            done = take(event);
        }
        for (std::size_t wanted = machine_.usablePages() / 16; !done && !droppable_.empty();
             wanted *= 2) {
            drop(wanted);
            shrink(Event::allCaches);
            done = take(event);
        }
        outcome_.refused += done ? 0U : 1U;
        if (done && event.droppable)
            droppable_.push_back(event.place);
    }

    bool take(const Event& event) {
        Slot& slot = slots_[event.place];
        slot.what = event.what;
        slot.processor = event.processor;
        if (event.verb == Verb::pages) {
            slot.page = machine_.take(event.order, static_cast<Mobility>(event.mobility));
            slot.kind = slot.page == nullptr ? Slot::Kind::empty : Slot::Kind::pages;
            outcome_.blockTakes += slot.page == nullptr ? 0U : 1U;
            return slot.page != nullptr;
        }
        const bool general = event.verb == Verb::general;
        observe([&] {
            slot.object = general ? heap_->malloc(std::max<std::size_t>(1, event.what))
                                  : heap_->take(*caches_[event.what]);
        });
        if (slot.object == nullptr)
            return false;
        if (general)
            noteCacheOf(slot.object);
        use(slot.object);
        slot.kind = general ? Slot::Kind::general : Slot::Kind::object;
        ++outcome_.takes;
        liveBytes_ += sizeOf(slot);
        fillObject(slot.object, sizeOf(slot), isConstructed(slot), stampOf(slot, ++slot.turn));
        return true;
    }

    void give(std::uint32_t place) {
        Slot& slot = slots_[place];
        const auto kind = std::exchange(slot.kind, Slot::Kind::empty);
        if (kind == Slot::Kind::empty)
            return; // its allocation failed
        if (kind == Slot::Kind::pages) {
            machine_.give(*slot.page);
            return;
        }
        slot.kind = kind;
        const std::size_t size = sizeOf(slot);
        const bool constructed = isConstructed(slot);
        slot.kind = Slot::Kind::empty;
        verifyObject(slot.object, size, constructed, stampOf(slot, slot.turn));
        ++outcome_.gives;
        outcome_.remoteGives += slot.processor != MachineProcessors::now ? 1U : 0U;
        liveBytes_ -= size;
        use(slot.object);
        observe([&] {
            if (kind == Slot::Kind::general)
                heap_->free(slot.object);
            else
                heap_->put(*caches_[slot.what], slot.object);
        });
    }

    void shrink(std::uint32_t what) {
        observe([&] {
            if (what != Event::allCaches)
                heap_->shrinkCache(*caches_[what]);
            else if constexpr (FlushableHeap<Objects>)
                heap_->flush();
        });
    }

    /// Drops objects until `wanted` pages are free, or none is left to drop.
    void drop(std::size_t wanted) {
        while (machine_.freePages() < wanted && !droppable_.empty()) {
            give(droppable_.front());
            droppable_.pop_front();
            ++outcome_.dropped;
        }
    }

    // --- counts ---

    /// Counts a call of the heap, after the prelude. The requests of other users for pages do not
    /// count.
    template <class Call>
    void observe(Call call) {
        if (!observed || !measured_) {
            call();
            return;
        }
        const Observed here(MachineProcessors::now);
        call();
    }

    /// The user's first or last access to an object.
    void use(const void* object) {
        if constexpr (observed)
            if (measured_)
                observer::useObject(object, MachineProcessors::now);
    }

    /// Learns the general caches, which the heap does not name, from their objects.
    void noteCacheOf(void* object) {
        if constexpr (observed && apart) {
            void* const cache = PageSection::blockAt(object).holder;
            if (cache != nullptr)
                general_.insert(static_cast<Cache*>(cache));
        }
    }

    void markOwnLocks() {
        if constexpr (observed && apart) {
            std::set<Cache*> all = general_;
            all.insert(caches_.begin(), caches_.end());
            for (Cache* const cache : all)
                for (auto& processor : cache->processors)
                    observer::markOwn(&processor.lock, sizeof(processor.lock));
        }
    }

    // --- contents of objects ---

    std::size_t sizeOf(const Slot& slot) const {
        return slot.kind == Slot::Kind::object ? traffic_.caches[slot.what].size : slot.what;
    }
    bool isConstructed(const Slot& slot) const {
        return slot.kind == Slot::Kind::object && traffic_.caches[slot.what].constructed;
    }
    std::uint64_t stampOf(const Slot& slot, std::uint32_t turn) const {
        return (static_cast<std::uint64_t>(&slot - slots_.data()) << 32U) | turn;
    }

    // --- samples ---

    void sample(std::uint64_t time) {
        Sample made;
        made.time = time;
        made.slabPages = slabPages();
        made.otherPages = machine_.otherPages();
        made.freePages = machine_.freePages();
        made.liveBytes = liveBytes_;
        made.fallbacks = machine_.pages().fallbacks().total();
        machine_.pages().forEachZone([this, &made](const PageZone& zone) {
            made.unusable = static_cast<std::uint64_t>(zone.unusableIndex(groupOrder));
            for (std::size_t order = 0; order < pageOrders; ++order)
                outcome_.meanUnusable[order] +=
                    static_cast<std::uint64_t>(zone.unusableIndex(order));
        });
        if (made.slabPages != 0)
            outcome_.meanFilled += made.liveBytes * 1000 / (made.slabPages * bytesOfPage);
        outcome_.samples.push_back(made);
    }

    void finish(const PageFallbacks& before) {
        if constexpr (observed) {
            markOwnLocks();
            outcome_.counts = observer::counts();
        }
        outcome_.nanoseconds =
            static_cast<std::uint64_t>(static_cast<double>(clock_) * (1e9 / CLOCKS_PER_SEC));
        outcome_.mostSlabPages = machine_.mostSlabPages() - outcome_.cachePages;
        outcome_.endSlabPages = slabPages();
        outcome_.slabsTaken = machine_.slabsTaken();
        outcome_.slabsGiven = machine_.slabsGiven();
        outcome_.fallbacks = since(before, machine_.pages().fallbacks());
        for (Sample& each : outcome_.samples) {
            each.fallbacks -= before.total();
            outcome_.meanSlabPages += each.slabPages;
        }
        outcome_.meanSlabPages /= outcome_.samples.size();
        outcome_.meanFilled /= outcome_.samples.size();
        for (std::uint64_t& each : outcome_.meanUnusable)
            each /= outcome_.samples.size();
        machine_.pages().forEachZone([this](const PageZone& zone) {
            for (std::size_t order = 0; order < pageOrders; ++order) {
                outcome_.unusable[order] = zone.unusableIndex(order);
                outcome_.fragmentation[order] = zone.fragmentationIndex(order);
            }
        });
        heap_->forEachCache([this](const CacheFigures& figures) {
            outcome_.caches.push_back({std::string(figures.name), figures.size, figures.stride,
                                       figures.live, figures.objects, figures.slabs, figures.pages,
                                       figures.remoteFrees});
        });
    }

    static PageFallbacks since(const PageFallbacks& before, PageFallbacks now) {
        for (std::size_t order = 0; order < pageOrders; ++order)
            for (std::size_t block = 0; block < pageOrders; ++block)
                now.events[order][block] -= before.events[order][block];
        now.claimed -= before.claimed;
        return now;
    }

    /// Frees all objects. An allocator that then still holds pages has lost some.
    void tearDown() {
        const Outcome seen = outcome_;
        for (std::size_t place = 0; place < slots_.size(); ++place)
            give(static_cast<std::uint32_t>(place));
        outcome_ = seen;
        outcome_.keptPages = slabPages();
        shrink(Event::allCaches);
        for (std::size_t index = 0; index < caches_.size(); ++index)
            if (!heap_->destroyCache(*caches_[index]))
                throw ModelFault("the cache " + traffic_.caches[index].name +
                                 " has live objects when all are freed");
        if (machine_.slabPages() != 0)
            throw ModelFault(std::to_string(machine_.slabPages()) +
                             " pages are not returned when all is freed");
    }

    const Traffic& traffic_;
    Machine machine_;
    std::unique_ptr<OnLines> heap_;
    std::vector<Cache*> caches_;
    std::vector<Slot> slots_;
    std::deque<std::uint32_t> droppable_;
    Outcome outcome_;
    std::size_t interval_ = 1;
    std::clock_t clock_ = 0;
    std::uint64_t liveBytes_ = 0;
    bool measured_ = false; ///< after the prelude, before the end
    std::set<Cache*> general_;
};

} // namespace heapwright::kernelsim
