// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/shared_region/shared_region_memory.hpp>

#include <support/child.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <sys/stat.h>

namespace heapwright::testing {
namespace {

constexpr std::uint64_t kind = 7;
constexpr RegionRequest mine = {kind, false, false};
constexpr RegionRequest shared = {kind, true, false};

/// A source of files for `FileMemory`: opens the file at `path`, which each test sets.
template <std::size_t Size>
struct FileAtPath {
    static constexpr std::size_t size = Size;
    static inline std::string path;
    static int open() noexcept { return platform::openFile(path.c_str()); }
};
using File = FileAtPath<64 * KiB>;
using Memory = FileMemory<File>;

struct FileAtAddress : File {
    static constexpr Address address = 0x7E90'0000'0000;
};

class FileMemoryTest : public ::testing::Test {
protected:
    void SetUp() override { File::path = file_.path(); }

    void write(const std::string& text) const {
        std::FILE* const file = std::fopen(file_.path(), "w");
        std::fputs(text.c_str(), file);
        std::fclose(file);
    }
    [[nodiscard]] std::size_t size() const {
        struct stat status = {};
        ::stat(file_.path(), &status);
        return static_cast<std::size_t>(status.st_size);
    }
    /// Creates the region in the file with this root, and closes it.
    static void createRegion(void* root) {
        const OpenRegion open = Memory::open(mine);
        ASSERT_EQ(open.opening, Opening::made);
        open.region->root = root;
        Memory::finish(open);
        Memory::close(open);
    }

    TemporaryFile file_{"region"};
};

TEST(SharedMemory, OpensAndClosesARegion) {
    const OpenRegion open = SharedMemory<64 * KiB>::open(mine);
    ASSERT_EQ(open.opening, Opening::made);
    SharedMemory<64 * KiB>::finish(open);
    EXPECT_EQ(open.region->label.bytes, 64 * KiB);
    SharedMemory<64 * KiB>::close(open);
    EXPECT_EQ(SharedMemory<(std::size_t{1} << 60U)>::open(mine).opening, Opening::failed);
}

TEST_F(FileMemoryTest, ReopensAtTheSameAddress) {
    createRegion(this);
    EXPECT_EQ(size(), File::size);
    const OpenRegion open = Memory::open(mine);
    ASSERT_EQ(open.opening, Opening::found);
    EXPECT_EQ(open.region->root, this);
    EXPECT_EQ(addressOf(open.region), open.region->label.address);
    Memory::close(open);
}

TEST_F(FileMemoryTest, RefusesFilesOfAnotherKindOrProgram) {
    createRegion(nullptr);
    EXPECT_EQ(Memory::open({kind + 1, false, false}).opening, Opening::foreign);
    write(
        "a text file, longer than the label that a region has at its start, with another content");
    const std::size_t before = size();
    EXPECT_EQ(Memory::open(mine).opening, Opening::foreign);
    write("short");
    EXPECT_EQ(Memory::open(mine).opening, Opening::foreign);
    EXPECT_EQ(size(), 5U) << "the file is unchanged";
    EXPECT_GT(before, sizeof(RegionLabel));
}

TEST_F(FileMemoryTest, RefusesATruncatedFile) {
    createRegion(nullptr);
    ASSERT_EQ(::truncate(file_.path(), 4096), 0);
    EXPECT_EQ(Memory::open(mine).opening, Opening::foreign);
}

TEST_F(FileMemoryTest, OpensForOneProcessUnlessShared) {
    const OpenRegion open = Memory::open(mine);
    ASSERT_EQ(open.opening, Opening::made);
    Memory::finish(open);
    EXPECT_EQ(Memory::open(mine).opening, Opening::busy);
    EXPECT_EQ(Memory::open(shared).opening, Opening::busy);
    Memory::close(open);
    const OpenRegion one = Memory::open(shared);
    ASSERT_EQ(one.opening, Opening::found);
    EXPECT_EQ(Memory::open(mine).opening, Opening::busy);
    EXPECT_EQ(Memory::open(shared).opening, Opening::taken) << "this process has mapped it already";
    EXPECT_EQ(statusOfChild([&] { // removes the mapping that the fork has copied
                  platform::unmapPages(one.region, File::size);
                  const OpenRegion two = Memory::open(shared);
                  const bool found = two.opening == Opening::found;
                  if (found) {
                      Memory::close(two);
                  }
                  return found;
              }),
              0);
    Memory::close(one);
}

TEST_F(FileMemoryTest, ReportsThatItsLastProcessDied) {
    createRegion(nullptr);
    EXPECT_EQ(statusOfChild([] { return Memory::open(mine).opening == Opening::found; }), 0);
    EXPECT_EQ(Memory::open(mine).opening, Opening::unclean);
    const OpenRegion open = Memory::open({kind, false, true});
    ASSERT_EQ(open.opening, Opening::found);
    Memory::close(open);
    EXPECT_EQ(statusOfChild([] {
                  const OpenRegion again = Memory::open(mine);
                  Memory::close(again);
                  return again.opening == Opening::found;
              }),
              0)
        << "the child closed it";
}

TEST_F(FileMemoryTest, RecreatesARegionThatWasNeverFinished) {
    EXPECT_EQ(statusOfChild([] { // ends before it finishes the region
                  const OpenRegion open = Memory::open(mine);
                  std::memset(pointerTo(addressOf(open.region) + 8192), 0xFF, 100);
                  return open.opening == Opening::made;
              }),
              0);
    const OpenRegion open = Memory::open(mine);
    ASSERT_EQ(open.opening, Opening::made);
    EXPECT_EQ(*static_cast<unsigned char*>(forward(open.region, 8192)), 0);
    Memory::finish(open);
    Memory::close(open);
}

TEST_F(FileMemoryTest, CloseInAForkedChildKeepsTheLocks) {
    const OpenRegion open = Memory::open(mine);
    Memory::finish(open);
    EXPECT_EQ(statusOfChild([&] {
                  Memory::close(open);
                  return true;
              }),
              0);
    EXPECT_EQ(open.region->label.entered, 1U);
    EXPECT_EQ(Memory::open(mine).opening, Opening::busy);
    Memory::close(open);
}

TEST_F(FileMemoryTest, GrowsWithItsFile) {
    createRegion(this);
    using Larger = FileMemory<FileAtPath<128 * KiB>>;
    FileAtPath<128 * KiB>::path = file_.path();
    const OpenRegion open = Larger::open(mine);
    ASSERT_EQ(open.opening, Opening::found);
    EXPECT_EQ(open.region->root, this);
    const bool grown = open.region->label.bytes == 128 * KiB;
    if (grown) { // a sanitizer's memory may prevent the growth
        std::memset(forward(open.region, 100 * KiB), 1, 1 * KiB);
    }
    Larger::close(open);
    const OpenRegion smaller = Memory::open(mine); // requests less than the file has
    ASSERT_EQ(smaller.opening, Opening::found);
    EXPECT_EQ(smaller.region->label.bytes, grown ? 128 * KiB : 64 * KiB);
    Memory::close(smaller);
}

TEST_F(FileMemoryTest, OpensTwoFilesOfOneKind) {
    const TemporaryFile another("region-2");
    const OpenRegion one = Memory::open(mine);
    File::path = another.path();
    const OpenRegion two = Memory::open(mine);
    ASSERT_EQ(one.opening, Opening::made);
    ASSERT_EQ(two.opening, Opening::made);
    EXPECT_NE(one.region, two.region);
    Memory::close(one);
    Memory::close(two);
}

TEST_F(FileMemoryTest, FailsWithoutARegularFile) {
    File::path = "/nowhere/at/all";
    EXPECT_EQ(Memory::open(mine).opening, Opening::failed);
    File::path = "/dev/null";
    EXPECT_EQ(Memory::open(mine).opening, Opening::failed);
}

TEST_F(FileMemoryTest, MapsAtTheAddressOfItsType) {
    const OpenRegion open = FileMemory<FileAtAddress>::open(mine);
    ASSERT_EQ(open.opening, Opening::made);
    EXPECT_EQ(addressOf(open.region), FileAtAddress::address);
    FileMemory<FileAtAddress>::finish(open);
    FileMemory<FileAtAddress>::close(open);
    const int other = platform::openUnnamedFile();
    ASSERT_TRUE(platform::growFile(other, 4096));
    void* const wall = platform::mapFile(other, 4096, FileAtAddress::address);
    ASSERT_NE(wall, nullptr);
    EXPECT_EQ(FileMemory<FileAtAddress>::open(mine).opening, Opening::taken);
    platform::unmapPages(wall, 4096);
    platform::letFileGo(other);
}

} // namespace
} // namespace heapwright::testing
