// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "kernelsim/run.hpp"

#include "kernelsim/kernel_trace.hpp"
#include "kernelsim/load.hpp"
#include "kernelsim/report.hpp"

#include <heapwright/layers/kernel/slub_heap.hpp>

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace heapwright::kernelsim {
namespace {

/// Objects of a few sizes in a small memory that is full of holes.
Load churn() {
    std::istringstream text(
        "heapwright-kernel-load 1 memory 32 operations 8000 nanoseconds 100\n"
        "caches 4 cache 256 64 0 0 filp cache 192 8 0 1 dentry cache 600 8 1 1 inode\n"
        "cache 768 64 1 0 socket fill 0.85 0.2 reclaim 0 0 activities 3\n"
        "activity 5 0.2 mean 300 4 object 0 1 1 with object 1 1 1 mean 900 object 2 1 1 mean 900\n"
        "general 16 1000 1 2 with\n"
        "activity 2 0.5 mean 200 2 object 3 2 2 with pages 0 0 0 2 with\n"
        "activity 1 0 dropped 1 object 1 1 2 with end\n");
    return readLoad(text);
}

TEST(KernelModels, OfAChurnDifferAsThePublishedOnesDo) {
    for (const std::size_t processors : {1U, 4U}) {
        const Traffic traffic = draw(churn(), processors, 20261123);
        std::map<std::string_view, Outcome> outcomes;
        for (const std::string_view name : modelNames)
            outcomes.emplace(name, runModel(name, traffic, 20));
        for (const auto& [name, outcome] : outcomes) {
            EXPECT_EQ(outcome.refused, 0U) << name;
            EXPECT_GT(outcome.fallbacks.total(), 0U) << name;
            EXPECT_GE(outcome.meanSlabPages, outcomes.at("slob").meanSlabPages) << name;
            EXPECT_GT(outcome.mostSlabPages * bytesOfPage, outcome.samples.back().liveBytes);
            EXPECT_EQ(outcome.remoteGives == 0, processors == 1) << name;
            EXPECT_EQ(outcome.takes, outcomes.at("slob").takes);
        }
        EXPECT_GT(outcomes.at("slab").keptPages, outcomes.at("slob").keptPages);
    }
}

TEST(KernelModels, DoTheSameEachTime) {
    const Traffic traffic = draw(churn(), 8, 5);
    for (const std::string_view name : modelNames) {
        const Outcome once = runModel(name, traffic, 10);
        EXPECT_TRUE(sameButForTime(once, runModel(name, traffic, 10))) << name;
        EXPECT_FALSE(sameButForTime(once, runModel(name, draw(churn(), 8, 6), 10))) << name;
    }
}

TEST(KernelModels, DropReclaimableMemoryBeforeTheyRefuse) {
    std::istringstream text("heapwright-kernel-load 1 memory 16 operations 9000 nanoseconds 1\n"
                            "caches 1 cache 512 8 0 1 thing fill 0 0 reclaim 0 0 activities 1\n"
                            "activity 1 0 dropped 1 object 0 8 8 with end\n");
    const Load load = readLoad(text);
    for (const std::string_view name : modelNames) {
        const Outcome outcome = runModel(name, draw(load, 1, 1), 10);
        EXPECT_EQ(outcome.refused, 0U) << name;
        EXPECT_GT(outcome.dropped, 9000U * 8 / 2) << name;
    }
}

TEST(KernelModels, RefuseRequestsWithoutMemory) {
    std::istringstream text("heapwright-kernel-load 1 memory 16 operations 9000 nanoseconds 1\n"
                            "caches 0 fill 0 0 reclaim 0 0 activities 1\n"
                            "activity 1 0 end 1 general 4096 4096 1 1 with end\n");
    const Load load = readLoad(text);
    for (const std::string_view name : modelNames) {
        const Outcome outcome = runModel(name, draw(load, 1, 1), 10);
        EXPECT_GT(outcome.refused, 4000U) << name;
        EXPECT_EQ(outcome.takes + outcome.refused, 9000U) << name;
    }
}

TEST(KernelModels, AreLookedAtAtEachMarkOfATrace) {
    std::istringstream text("heapwright-kernel-trace 1\nkernel 6.1 slub\ncpus 1\nmemory 16\n"
                            "cache 0 4000 8 -- large\nevents\n"
                            "a 1 0 1 0\nk 2 10 0\na 3 0 2 0\nf 4 0 1\nk 5 20 1\nend 5\n");
    const Traffic traffic = readTrace(text);
    const Outcome outcome = runModel("slub", traffic, 1);
    ASSERT_EQ(outcome.samples.size(), 3U);
    EXPECT_FALSE(outcome.samples[0].recorded);
    EXPECT_EQ(outcome.samples[1].recorded, (Mark{2, 10, 0}));
    EXPECT_EQ(outcome.samples[1].liveBytes, 4000U);
    EXPECT_EQ(outcome.samples[2].recorded, (Mark{5, 20, 1}));
    EXPECT_EQ(outcome.samples[2].liveBytes, 4000U);
}

TEST(KernelModels, HaveAsMuchFreeMemoryAsATraceSays) {
    // The last is more than 16 MiB have beside the descriptors of their pages.
    for (const char* const free : {"100", "4044", "4096"}) {
        std::istringstream text("heapwright-kernel-trace 1\nkernel 6.1 slub\ncpus 1\nmemory 16 " +
                                std::string(free) + "\nevents\np 1 0 1 0 m\nend 1\n");
        const Outcome outcome = runModel("slob", readTrace(text), 1);
        ASSERT_EQ(outcome.samples.size(), 2U);
        EXPECT_EQ(outcome.samples[0].freePages, std::stoul(free));
        EXPECT_EQ(outcome.samples[1].freePages, std::stoul(free) - 1);
        EXPECT_EQ(outcome.fallbacks.total(), 0U);
    }
}

/// Gives out its first object twice.
class Forgetful : public SlubHeap<MachineProcessors, NoLock, MachinePages> {
    using Super = SlubHeap<MachineProcessors, NoLock, MachinePages>;

public:
    void* take(Cache& cache) noexcept {
        ++taken_;
        void* const object = taken_ == 2 ? first_ : Super::take(cache);
        first_ = taken_ == 1 ? object : first_;
        return object;
    }

private:
    int taken_ = 0;
    void* first_ = nullptr;
};

/// Loses what is put back.
class Leaky : public SlubHeap<MachineProcessors, NoLock, MachinePages> {
public:
    void put(Cache& /*cache*/, void* /*object*/) noexcept {}
};

TEST(KernelModels, ThatBreakARuleAreDetected) {
    std::istringstream text("heapwright-kernel-trace 1\nkernel 6.1 slub\ncpus 1\nmemory 16\n"
                            "cache 0 100 8 -- thing\nevents\n"
                            "a 1 0 1 0\na 2 0 2 0\nf 3 0 1\nf 4 0 2\nend 4\n");
    const Traffic traffic = readTrace(text);
    EXPECT_THROW(kernelsim::Run<Forgetful>(traffic, 1).run(), ModelFault);
    EXPECT_THROW(kernelsim::Run<Leaky>(traffic, 1).run(), ModelFault);
}

TEST(KernelModels, WriteJson) {
    const Traffic traffic = draw(churn(), 2, 1);
    Json json;
    json.beginObject();
    tellTraffic(json, traffic);
    json.key("model");
    tellOutcome(json, "slab", runModel("slab", traffic, 4), {2'000'000, 1'000'000},
                traffic.processors);
    json.endObject();
    EXPECT_NE(json.text().find("\"seconds\":0.001"), std::string::npos) << json.text();
    EXPECT_NE(json.text().find("\"processors\":2"), std::string::npos);
}

} // namespace
} // namespace heapwright::kernelsim
