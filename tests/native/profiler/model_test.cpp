// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole pass against a model that keeps everything. Random programs of several threads make
// every kind of call, and most figures are computed again in a simple way.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <vector>

#include "scene.hpp"

namespace heapwright::profiler {
namespace {

using trace::Routine;

class Model {
public:
    struct Block {
        std::uint64_t size;
        std::uint64_t born;
        std::uint32_t thread;
        std::uint32_t stack;
    };
    struct Held {
        std::uint64_t blocks;
        std::uint64_t bytes;
    };

    void allocated(std::uint64_t address, const Block& block) {
        const std::uint64_t size = block.size;
        live[address] = block;
        ++allocations;
        bytes += size;
        sizes[size] += 1;
        look();
    }
    void ended(std::uint64_t address, std::uint64_t time, std::uint32_t thread) {
        const Block block = live.at(address);
        live.erase(address);
        handedOver += block.thread != thread;
        lives.push_back(time - block.born);
    }
    void look() {
        std::uint64_t now = 0;
        for (const auto& [address, block] : live)
            now += block.size;
        if (now <= peak)
            return;
        peak = now;
        atPeak.clear();
        for (const auto& [address, block] : live) {
            ++atPeak[block.stack].blocks;
            atPeak[block.stack].bytes += block.size;
        }
    }

    std::map<std::uint64_t, Block> live;
    std::map<std::uint64_t, std::uint64_t> sizes;
    std::vector<std::uint64_t> lives;
    std::map<std::uint32_t, Held> atPeak; ///< by stack
    std::uint64_t allocations = 0;
    std::uint64_t bytes = 0;
    std::uint64_t handedOver = 0;
    std::uint64_t peak = 0;
};

class Program {
public:
    Program(unsigned seed, Scene& scene, Model& model)
        : random_(seed), scene_(scene), model_(model) {}

    void step() {
        const std::uint64_t pause = random_() % 8 == 0 ? 30 * millisecond : random_() % 5000;
        time_ += pause;
        const auto thread = static_cast<std::uint32_t>(random_() % 4);
        scene_.after(pause).thread(thread);
        const auto kind = random_() % 10;
        if (model_.live.empty() || kind < 5)
            allocate(thread);
        else if (kind < 8)
            free(thread);
        else
            reallocate(thread);
    }

private:
    std::uint64_t fresh() {
        std::uint64_t address = 0;
        do {
            address = 0x5000'0000 + 16 * (random_() % 5000);
        } while (model_.live.contains(address));
        return address;
    }
    std::uint64_t someSize() { return random_() % 3 == 0 ? random_() % 100'000 : random_() % 100; }
    std::uint64_t someLive() {
        auto at = model_.live.begin();
        std::advance(at, static_cast<long>(random_() % model_.live.size()));
        return at->first;
    }
    void allocate(std::uint32_t thread) {
        const std::uint64_t address = fresh();
        const std::uint64_t size = someSize();
        const auto stack = static_cast<std::uint32_t>(1 + random_() % 40);
        scene_.stack(stack);
        scene_.call(random_() % 5 == 0 ? Routine::calloc : Routine::malloc, address, size);
        model_.allocated(address, {size, time_, thread, stack});
    }
    void free(std::uint32_t thread) {
        const std::uint64_t address = someLive();
        scene_.free(address);
        model_.ended(address, time_, thread);
    }
    void reallocate(std::uint32_t thread) {
        const std::uint64_t old = someLive();
        const std::uint64_t size = someSize();
        const bool moves = random_() % 2 == 0;
        const std::uint64_t address = moves ? fresh() : old;
        const auto stack = static_cast<std::uint32_t>(1 + random_() % 40);
        scene_.stack(stack).realloc(old, address, size);
        if (!moves && size <= model_.live[old].size) {
            model_.live[old].size = size;
            return;
        }
        model_.ended(old, time_, thread);
        model_.allocated(address, {size, time_, thread, stack});
    }

    std::mt19937 random_;
    Scene& scene_;
    Model& model_;
    std::uint64_t time_ = 0;
};

class RandomPrograms : public testing::TestWithParam<unsigned> {};

TEST_P(RandomPrograms, HaveTheFiguresOfTheModel) {
    Scene scene;
    Model model;
    Program program(GetParam(), scene, model);
    for (int step = 0; step < 3000; ++step)
        program.step();
    EXPECT_EQ(scene.counts().allocations, model.allocations);
    EXPECT_EQ(scene.counts().bytes, model.bytes);
    EXPECT_EQ(scene.counts().ended, model.lives.size());
    EXPECT_EQ(scene.state().objects, model.live.size());
    EXPECT_EQ(scene.profiler().peak().bytes, model.peak);
    EXPECT_EQ(scene.counts().unknownFrees + scene.counts().overwritten, 0U);

    const auto within = [&](std::uint64_t low, std::uint64_t high) {
        return static_cast<double>(
            std::count_if(model.lives.begin(), model.lives.end(),
                          [&](std::uint64_t life) { return life > low && life <= high; }));
    };
    const std::string document = scene.document();
    EXPECT_EQ(number(document, "retention", "short_count"),
              static_cast<double>(model.lives.size()) - within(100 * millisecond, UINT64_MAX));
    EXPECT_EQ(number(document, "retention", "medium_count"), within(100 * millisecond, second));
    EXPECT_EQ(number(document, "totals", "never_freed"), static_cast<double>(model.live.size()));
    EXPECT_EQ(number(document, "sizes", "distinct"), static_cast<double>(model.sizes.size()));
    EXPECT_EQ(number(document, "cross_thread_frees", "count"),
              static_cast<double>(model.handedOver));

    std::size_t holders = 0;
    for (const Site& site : scene.profiler().sites().all()) {
        const auto found = model.atPeak.find(site.stack);
        const Model::Held held = found == model.atPeak.end() ? Model::Held{} : found->second;
        EXPECT_EQ(site.atPeak, held.bytes) << "of stack " << site.stack;
        EXPECT_EQ(site.blocksAtPeak, held.blocks) << "of stack " << site.stack;
        holders += site.blocksAtPeak != 0 ? 1 : 0;
    }
    EXPECT_EQ(holders, model.atPeak.size());
    EXPECT_GT(holders, 1U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range(1U, 9U));

} // namespace
} // namespace heapwright::profiler
