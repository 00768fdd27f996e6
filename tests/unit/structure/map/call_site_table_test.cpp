// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/map/call_site_table.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace heapwright {
namespace {

/// A module that is loaded, with a build-id. Filled by `found`.
struct Loaded {
    Address bias = 0;
    std::string buildId;
};

const Loaded& found() {
    static const Loaded loaded = [] {
        Loaded first;
        platform::forEachModule([&first](const platform::LoadedModule& module) {
            if (first.buildId.empty()) {
                first.bias = module.bias;
                constexpr std::string_view digits = "0123456789abcdef";
                for (const std::uint8_t byte : module.buildId) {
                    first.buildId += {digits[byte >> 4U], digits[byte & 15U]};
                }
            }
        });
        return first;
    }();
    return loaded;
}

/// Sites of a loaded module and of another build of it.
struct Two {
    static inline std::array<CodeModule, 2> modules{};
    static constexpr std::array<CallSite, 3> sites{
        {{0, 0x100, 32}, {0, 0x200, 48}, {1, 0x300, 32}}};

    static void begin() { modules = {{{"loaded", found().buildId}, {"another", "00ff"}}}; }
    static const void* at(std::uint64_t address) { return pointerTo(found().bias + address); }
};

/// Many sites, so that searches meet.
struct Many {
    static inline std::array<CodeModule, 1> modules{};
    static inline std::array<CallSite, 300> sites{};

    static void begin() {
        modules[0] = {"loaded", found().buildId};
        for (std::size_t i = 0; i < sites.size(); ++i) {
            sites[i] = {0, 0x1000 + 5 * i, 16 * (i % 9 + 1)};
        }
    }
};

TEST(CallSiteTable, HasNothingBeforeItIsResolved) {
    Two::begin();
    const CallSiteTable<Two> table;
    EXPECT_FALSE(table.has(Two::at(0x100), 20));
    EXPECT_FALSE(CallSiteTable<NoCallSites>().has(nullptr, 0));
}

TEST(CallSiteTable, HasTheSizesOfABlockAtAReturnAddress) {
    Two::begin();
    ASSERT_FALSE(found().buildId.empty()) << "no object of this program has a build-id";
    CallSiteTable<Two> table;
    table.resolve();
    EXPECT_TRUE(table.has(Two::at(0x100), 9));
    EXPECT_TRUE(table.has(Two::at(0x100), 24));
    EXPECT_FALSE(table.has(Two::at(0x100), 8)) << "the block of 16 bytes";
    EXPECT_FALSE(table.has(Two::at(0x100), 25));
    EXPECT_FALSE(table.has(Two::at(0x101), 24));
    EXPECT_FALSE(table.has(Two::at(0x200), 24));
    EXPECT_TRUE(table.has(Two::at(0x200), 40));
}

TEST(CallSiteTable, IgnoresAnotherBuildOfAModule) {
    Two::begin();
    CallSiteTable<Two> table;
    table.resolve();
    EXPECT_FALSE(table.has(Two::at(0x300), 20));
    Two::modules[0].buildId.remove_suffix(2);
    CallSiteTable<Two> shorter;
    shorter.resolve();
    EXPECT_FALSE(shorter.has(Two::at(0x100), 20)) << "a part of the build-id";
}

TEST(CallSiteTable, FindsEachOfManySites) {
    Many::begin();
    CallSiteTable<Many> table;
    table.resolve();
    table.resolve(); // changes nothing
    for (const CallSite& site : Many::sites) {
        EXPECT_TRUE(table.has(Two::at(site.address), site.block - Tag::bytes));
        EXPECT_FALSE(table.has(Two::at(site.address + 1), site.block - Tag::bytes));
    }
}

TEST(CallSiteTable, BlocksAreThoseOfATaggedHeap) {
    EXPECT_EQ(callSiteBlock(0), 16U);
    EXPECT_EQ(callSiteBlock(8), 16U);
    EXPECT_EQ(callSiteBlock(9), 32U);
    EXPECT_EQ(callSiteBlock(24), 32U);
}

} // namespace
} // namespace heapwright
