// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/kernel/slab_info.hpp>

#include <heapwright/layers/kernel/slab_heap.hpp>
#include <heapwright/layers/kernel/slob_heap.hpp>
#include <support/kernel_pages.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace heapwright::testing {
namespace {

template <class H>
std::string tableOf(H& heap) {
    std::string text;
    writeSlabInfo(heap, [&text](std::string_view line) { text += line; });
    return text;
}

TEST(SlabInfo, HasTheColumnsOfTheKernelsFile) {
    FourProcessors::bePresent(4);
    FourProcessors::beOn(0);
    SlabHeap<FourProcessors, FutexLock, KernelPages> heap;
    auto* const cache = heap.createCache({"dentry", 192, 64});
    for (int object = 0; object < 100; ++object) {
        ASSERT_NE(heap.take(*cache), nullptr);
    }
    std::string wanted(SlabInfoLine::title);
    wanted += "dentry               100    105    192   21    1 : tunables  120   60    8"
              " : slabdata      5      5      0\n";
    EXPECT_EQ(tableOf(heap), wanted);
}

TEST(SlabInfo, ReportsSlobsPagesAndCaches) {
    SlobHeap<FutexLock, KernelPages> heap;
    auto* const cache = heap.createCache({"large", 3 * bytesOfPage});
    ASSERT_NE(heap.take(*cache), nullptr);
    const std::string table = tableOf(heap);
    EXPECT_NE(table.find("\nall "), std::string::npos) << table;
    EXPECT_NE(table.find("large                  1      1  12288    0    4"), std::string::npos)
        << table;
}

TEST(SlabInfo, CutsNamesThatAreVeryLong) {
    const std::string name(1000, 'n');
    CacheFigures figures;
    figures.name = name.c_str();
    const SlabInfoLine line(figures);
    EXPECT_EQ(line.view().back(), '\n');
    EXPECT_LT(line.view().size(), 320U);
}

} // namespace
} // namespace heapwright::testing
