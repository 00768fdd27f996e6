// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "kernelsim/kernel_trace.hpp"

#include "kernelsim/load.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace heapwright::kernelsim {
namespace {

const std::string head = "heapwright-kernel-trace 1\n"
                         "kernel 6.1.90 slub of Debian\n"
                         "cpus 2\n"
                         "memory 32\n"
                         "cache 0 192 64 cr dentry\n"
                         "cache 1 600 8 -- a name\n"
                         "events\n";

Traffic read(const std::string& text) {
    std::istringstream stream(text);
    return readTrace(stream);
}

std::string complaint(const std::string& text) {
    try {
        read(text);
    } catch (const TraceError& error) {
        return error.what();
    }
    return "";
}

TEST(KernelTrace, IsReadAsItWasWritten) {
    const Traffic traffic = read(head + "# what was there\n"
                                        "p 0 0 1f 2 m\n"
                                        "a 10 1 ffff8880 0\n"
                                        "m 10 0 ffff8881 100\n"
                                        "f 20 0 ffff8880\n"
                                        "\n"
                                        "a 20 1 ffff8880 1\n"
                                        "k 25 40 3\n"
                                        "s 30 0 *\n"
                                        "s 30 1 1\n"
                                        "end 8\n");
    EXPECT_EQ(traffic.kernel, "6.1.90 slub of Debian");
    EXPECT_EQ(traffic.processors, 2U);
    EXPECT_EQ(traffic.memory, 32U);
    ASSERT_EQ(traffic.caches.size(), 2U);
    EXPECT_TRUE(traffic.caches[0].constructed && traffic.caches[0].reclaimable);
    EXPECT_EQ(traffic.caches[1].name, "a name");
    ASSERT_EQ(traffic.events.size(), 8U);
    EXPECT_EQ(traffic.prelude, 1U);
    EXPECT_EQ(traffic.places, 3U); // one was free again
    EXPECT_EQ(traffic.events[4].place, traffic.events[1].place);
    EXPECT_EQ(traffic.events[0].order, 2);
    EXPECT_EQ(traffic.marks, (std::vector<Mark>{{25, 40, 3}}));
    EXPECT_EQ(traffic.events[6].what, Event::allCaches);
}

TEST(KernelTrace, MaySayHowMuchOfTheMemoryIsFree) {
    const std::string start = "heapwright-kernel-trace 1\nkernel 6.1.90 slub\ncpus 1\n";
    const Traffic traffic = read(start + "memory 33 5000\nevents\nm 1 0 1 8\nend 1\n");
    EXPECT_EQ(traffic.freePages, 5000U);
    EXPECT_EQ(read(head + "s 1 0 *\nend 1\n").freePages, 0U);
    EXPECT_EQ(complaint(start + "memory 16 4097\n"),
              "line 4: the number of free pages is a whole number from 1 to 4096, not 4097");
    EXPECT_EQ(complaint(start + "memory 16 0\n"),
              "line 4: the number of free pages is a whole number from 1 to 4096, not 0");
    EXPECT_EQ(complaint(start + "memory 16 1 1\n"), "line 4: expected `memory MIB FREE`");
    EXPECT_EQ(complaint(start + "memory\n"), "line 4: expected `memory MIB FREE`");
}

TEST(KernelTrace, ReportsTheErrorAndItsLine) {
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"", "line 1: the trace is empty"},
        {"some text\n", "line 1: this is no kernel trace"},
        {"heapwright-kernel-trace 2\n", "line 1: this is a kernel trace of format 2"},
        {"heapwright-kernel-trace 1\ncpus 2\n", "line 2: expected `kernel"},
        {"heapwright-kernel-trace 1\nkernel 6.1 slab\ncpus 9\n",
         "line 3: the number of processors"},
        {"heapwright-kernel-trace 1\nkernel 6.1 slab\ncpus 0\n",
         "line 3: the number of processors"},
        {head + "end 0\n", "line 8: the trace is empty: there is no event"},
        {head, "line 8: the trace is cut off"},
        {head + "a 1 0 1 0\n", "line 9: the trace is cut off"},
        {head + "a 1 0 1 0\nend 2\n", "line 9: there are 1 events, not 2"},
        {head + "a 1 0 1 0\nend 1\nf 2 0 1\n", "line 10: nothing may follow"},
        {head + "a 5 0 1 0\na 4 0 2 0\n", "line 9: the time decreases, from 5 to 4"},
        {head + "a 5 2 1 0\n", "line 8: the processor"},
        {head + "a 5 0 1 2\n", "line 8: the cache"},
        {head + "a 5 0 1 0\na 5 0 1 1\n", "line 9: 1 is live already"},
        {head + "f 5 0 1\n", "line 8: 1 is freed, and is not live"},
        {head + "a 5 0 xyz 0\n", "line 8: the identity is a hexadecimal"},
        {head + "p 5 0 1 11 m\n", "line 8: the order"},
        {head + "p 5 0 1 0 x\n", "line 8: the mobility"},
        {head + "m 5 0 1 4194305\n", "line 8: the size"},
        {head + "m 5 0 1  5\n", "line 8: words have one blank"},
        {head + "a 5 0 1\n", "line 8: expected `a TIME CPU ID CACHE`"},
        {head + "z 5 0 1\n", "line 8: there is no event z"},
    };
    for (const auto& [text, begins] : wrong)
        EXPECT_EQ(complaint(text).find(begins), complaint(text).find("line"))
            << text << "\nsaid: " << complaint(text);
}

std::string drawn() {
    std::istringstream text("heapwright-kernel-load 1 memory 16 operations 300 nanoseconds 10\n"
                            "caches 1 cache 200 8 1 1 thing fill 0.02 0.5 reclaim 0 0\n"
                            "activities 1 activity 1 0.5 mean 20 3\n"
                            "object 0 1 2 with general 8 5000 0 1 with pages 1 2 0 1 end end\n");
    std::ostringstream trace;
    writeTrace(draw(readLoad(text), 4, 7), trace);
    return trace.str();
}

TEST(KernelTrace, OfALoadSaysTheSameAsTheLoad) {
    std::istringstream trace(drawn());
    const Traffic traffic = readTrace(trace);
    std::ostringstream again;
    writeTrace(traffic, again);
    EXPECT_EQ(again.str().size(), drawn().size());
    EXPECT_EQ(traffic.processors, 4U);
    EXPECT_GT(traffic.events.size(), 600U);
}

TEST(KernelTrace, ThatIsDamagedIsReadOrRefused) {
    const std::string whole = drawn();
    std::mt19937 random(4);
    int refused = 0;
    for (int round = 0; round < 600; ++round) {
        std::string text = whole;
        for (unsigned change = 0; change <= random() % 3; ++change) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
            case 0:
                text.resize(at + 1);
                break;
            case 1:
                text[at] = static_cast<char>(random() % 256);
                break;
            case 2:
                text.erase(at, 1 + random() % 40);
                break;
            default:
                text.insert(at, text.substr(random() % text.size(), random() % 60));
            }
            if (text.empty())
                break;
        }
        const std::string said = complaint(text);
        EXPECT_TRUE(said.empty() || said.rfind("line ", 0) == 0) << said;
        refused += said.empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 300);
}

} // namespace
} // namespace heapwright::kernelsim
