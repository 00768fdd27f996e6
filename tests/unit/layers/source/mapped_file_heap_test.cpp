// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/source/mapped_file_heap.hpp>

#include <support/child.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace heapwright::testing {
namespace {

struct File {
    static constexpr std::size_t size = 64 * KiB;
    static inline std::string path;
    static int open() noexcept { return platform::openFile(path.c_str()); }
};
using Kept = MappedFileHeap<File>;

class MappedFileHeapTest : public ::testing::Test {
protected:
    void SetUp() override { File::path = file_.path(); }

    TemporaryFile file_{"mapped"};
};

TEST_F(MappedFileHeapTest, KeepsItsObjectsAndContinuesBehindThem) {
    void* first = nullptr;
    {
        Kept heap;
        first = heap.malloc(1000);
        ASSERT_NE(first, nullptr);
        std::memset(first, 7, 1000);
    }
    Kept heap;
    auto* const second = static_cast<unsigned char*>(heap.malloc(1000));
    ASSERT_NE(second, nullptr);
    EXPECT_TRUE(heap.owns(first));
    EXPECT_EQ(second, forward(first, 1008)) << "it lies behind the first";
    EXPECT_EQ(static_cast<unsigned char*>(first)[999], 7);
    EXPECT_EQ(heap.getSize(first), 1000U);
    heap.free(second);
    heap.free(first);
    EXPECT_EQ(heap.malloc(10), first);
}

TEST_F(MappedFileHeapTest, ReturnsNullIfAnotherHeapHasTheFile) {
    Kept heap;
    ASSERT_NE(heap.malloc(10), nullptr);
    Kept other;
    EXPECT_EQ(other.malloc(10), nullptr);
    EXPECT_EQ(statusOfChild([] { return Kept().malloc(10) == nullptr; }), 0);
}

TEST_F(MappedFileHeapTest, IsNullWhereThereIsNoFile) {
    File::path = "/nowhere/at/all";
    Kept heap;
    EXPECT_EQ(heap.malloc(10), nullptr);
    EXPECT_EQ(heap.zalloc(10), nullptr);
    File::path = file_.path();
    EXPECT_NE(heap.malloc(10), nullptr) << "and it is asked again";
}

TEST_F(MappedFileHeapTest, IsNullWhenTheFileIsFull) {
    Kept heap;
    EXPECT_EQ(heap.malloc(64 * KiB), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    void* const most = heap.malloc(60 * KiB);
    ASSERT_NE(most, nullptr);
    EXPECT_EQ(heap.malloc(8 * KiB), nullptr);
    heap.clear();
    EXPECT_EQ(heap.memalign(64, 60 * KiB) == nullptr, false);
}

/// A child that was forked with it and ends in the ordinary way does not take it from the parent.
TEST_F(MappedFileHeapTest, AForkedProcessLeavesItToTheParent) {
    Kept heap;
    auto* const object = static_cast<unsigned char*>(heap.malloc(10));
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(statusOfChild([&] {
                  heap.~Kept();
                  return true;
              }),
              0);
    EXPECT_EQ(statusOfChild([] { return Kept().malloc(10) == nullptr; }), 0) << "still locked";
    object[9] = 1;
    EXPECT_NE(heap.malloc(10), nullptr);
}

TEST(MappedFileHeap, AScratchFileIsMemory) {
    MappedFileHeap<ScratchFile<1 * MiB>> heap;
    auto* const object = static_cast<unsigned char*>(heap.zalloc(900 * KiB));
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(object[900 * KiB - 1], 0);
    std::memset(object, 1, 900 * KiB);
    MappedFileHeap<ScratchFile<1 * MiB>> other;
    EXPECT_NE(other.malloc(900 * KiB), nullptr) << "each has a file of its own";
}

} // namespace
} // namespace heapwright::testing
