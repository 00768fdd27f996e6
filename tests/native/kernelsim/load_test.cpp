// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "kernelsim/load.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace heapwright::kernelsim {
namespace {

const std::string whole =
    "heapwright-kernel-load 1\nmemory 32\noperations 2000\nnanoseconds 100.5\n"
    "caches 2\ncache 200 8 1 1 inode\ncache 64 64 0 0 filp\n"
    "fill 0.5 0.25\nreclaim 500 10\nactivities 2\n"
    "activity 3 0.5 mean 50 2\nobject 0 1 3 with\nobject 1 1 1 dropped\n"
    "activity 1 0 between 5 10 2\npages 1 1 0 2 with\ngeneral 8 100 1 1 end\n"
    "end\n";

Load read(const std::string& text) {
    std::istringstream stream(text);
    return readLoad(stream);
}

std::string without(const std::string& text, const std::string& what, const std::string& by) {
    std::string changed = text;
    return changed.replace(changed.find(what), what.size(), by);
}

TEST(KernelLoad, IsRead) {
    const Load load = read(whole);
    EXPECT_EQ(load.memory, 32U);
    ASSERT_EQ(load.caches.size(), 2U);
    EXPECT_TRUE(load.caches[0].constructed);
    EXPECT_EQ(load.caches[1].name, "filp");
    ASSERT_EQ(load.activities.size(), 2U);
    EXPECT_EQ(load.activities[0].parts[0].mostCount, 3U);
    EXPECT_EQ(load.activities[1].parts[1].life.kind, Life::Kind::end);
}

TEST(KernelLoad, ThatMakesNoSenseIsRefused) {
    const std::vector<std::string> wrong = {
        "",
        without(whole, "load 1", "load 2"),
        without(whole, "memory 32", "memory 8"),
        without(whole, "operations 2000", "operations 0"),
        without(whole, "operations 2000", "operations -1"),
        without(whole, "cache 200 8", "cache 200 24"),
        without(whole, "cache 200", "cache 7"),
        without(whole, "fill 0.5", "fill 1.5"),
        without(whole, "object 0", "object 2"),
        without(whole, "mean 50", "with"),
        without(whole, "between 5 10", "between 10 5"),
        without(whole, "pages 1 1", "pages 11 1"),
        without(whole, "pages 1 1", "pages 1 3"),
        without(without(whole, "activity 3", "activity 0"), "activity 1", "activity 0"),
        whole.substr(0, whole.size() - 5),
    };
    for (const std::string& text : wrong)
        EXPECT_THROW(read(text), LoadError) << text;
}

TEST(KernelLoad, GivesTheSameTrafficForTheSameSeedOnly) {
    const Load load = read(whole);
    const Traffic one = draw(load, 4, 5);
    EXPECT_EQ(one.events, draw(load, 4, 5).events);
    EXPECT_NE(one.events, draw(load, 4, 6).events);
}

/// What the head of traffic.hpp promises.
void expectSound(const Traffic& traffic) {
    std::vector<bool> taken(traffic.places, false);
    std::uint64_t time = 0;
    for (const Event& event : traffic.events) {
        ASSERT_GE(event.time, time);
        time = event.time;
        ASSERT_LT(event.processor, traffic.processors);
        if (event.verb == Event::Verb::shrink || event.verb == Event::Verb::reclaim)
            continue;
        ASSERT_LT(event.place, traffic.places);
        ASSERT_EQ(taken[event.place], event.verb == Event::Verb::give);
        taken[event.place] = event.verb != Event::Verb::give;
        if (event.verb == Event::Verb::take) {
            ASSERT_LT(event.what, traffic.caches.size());
        }
    }
}

TEST(KernelLoad, GivesTrafficThatMakesSense) {
    const Load load = read(whole);
    for (std::size_t processors = 1; processors <= mostProcessors; ++processors) {
        const Traffic traffic = draw(load, processors, processors);
        expectSound(traffic);
        // Half of 32 MiB in pages, and a quarter of these freed again.
        EXPECT_GT(traffic.prelude, 4096U);
        EXPECT_NEAR(static_cast<double>(traffic.prelude), 4096 * 1.25, 150);
    }
}

TEST(KernelLoad, EndsTheStatedNumberOnOtherProcessors) {
    Load load = read(whole);
    load.operations = 20'000;
    const Traffic traffic = draw(load, 8, 3);
    std::vector<std::uint8_t> by(traffic.places, 0);
    double gives = 0;
    double elsewhere = 0;
    for (std::size_t at = traffic.prelude; at < traffic.events.size(); ++at) {
        const Event& event = traffic.events[at];
        if (event.verb == Event::Verb::give) {
            const bool there = by[event.place] == event.processor;
            gives += 1;
            elsewhere += there ? 0 : 1;
        } else if (event.verb != Event::Verb::reclaim) {
            by[event.place] = event.processor;
        }
    }
    // Two objects each of three activities in four, half of them elsewhere; a block of the fourth.
    EXPECT_NEAR(elsewhere / gives, 0.5 * 1.5 / 1.75, 0.02);
}

} // namespace
} // namespace heapwright::kernelsim
