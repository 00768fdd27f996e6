// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/shared_pages.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace heapwright::testing {
namespace {

TEST(SharedPages, AreSeenByParentAndChild) {
    const std::size_t page = platform::pageSize();
    auto* const pages = static_cast<volatile char*>(platform::mapSharedPages(page));
    ASSERT_NE(pages, nullptr);
    EXPECT_EQ(pages[page - 1], 0);
    const pid_t child = ::fork();
    if (child == 0) {
        pages[7] = 5;
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(pages[7], 5);
    EXPECT_TRUE(platform::unmapPages(const_cast<char*>(pages), page));
}

TEST(SharedPages, FailureIsInTheResultAndKeepsErrno) {
    errno = EINTR;
    EXPECT_EQ(platform::mapSharedPages(std::size_t{1} << 60U), nullptr);
    EXPECT_EQ(platform::openFile("/nowhere/at/all"), -1);
    EXPECT_EQ(platform::sizeOfFile(-1), 0U);
    EXPECT_FALSE(platform::growFile(-1, 4096));
    EXPECT_EQ(platform::mapFile(-1, 4096, 0), nullptr);
    EXPECT_FALSE(platform::lockFile(-1, 0, platform::FileLock::sole, false));
    char byte = 0;
    EXPECT_FALSE(platform::readFile(-1, &byte, 1));
    EXPECT_EQ(errno, EINTR);
}

TEST(Files, KeepMappedContents) {
    const std::size_t page = platform::pageSize();
    const int file = platform::openUnnamedFile();
    ASSERT_GE(file, 0);
    EXPECT_EQ(platform::sizeOfFile(file), 0U);
    ASSERT_TRUE(platform::growFile(file, 2 * page));
    EXPECT_EQ(platform::sizeOfFile(file), 2 * page);
    auto* const first = static_cast<unsigned char*>(platform::mapFile(file, 2 * page, 0));
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first[2 * page - 1], 0);
    std::memset(first, 7, 2 * page);
    platform::writeOut(first, 2 * page);
    EXPECT_EQ(platform::mapFile(file, page, addressOf(first)), nullptr) << "it is taken";
    EXPECT_EQ(first[0], 7);
    EXPECT_TRUE(platform::unmapPages(first, 2 * page));
    auto* const again =
        static_cast<unsigned char*>(platform::mapFile(file, 2 * page, addressOf(first)));
    EXPECT_EQ(again, first);
    EXPECT_EQ(again[2 * page - 1], 7);
    unsigned char byte = 0;
    EXPECT_TRUE(platform::readFile(file, &byte, 1));
    EXPECT_EQ(byte, 7);
    EXPECT_TRUE(platform::unmapPages(again, 2 * page));
    platform::letFileGo(file);
}

TEST(Files, LocksAreOfOpenDescriptions) {
    using platform::FileLock;
    const std::string path = ::testing::TempDir() + "heapwright-lock-" + std::to_string(::getpid());
    const int one = platform::openFile(path.c_str());
    const int two = platform::openFile(path.c_str());
    ASSERT_GE(one, 0);
    ASSERT_GE(two, 0);
    EXPECT_TRUE(platform::lockFile(one, 0, FileLock::sole, true));
    EXPECT_FALSE(platform::lockFile(two, 0, FileLock::shared, false));
    EXPECT_TRUE(platform::lockFile(two, 1, FileLock::sole, false)) << "another place";
    EXPECT_TRUE(platform::lockFile(one, 0, FileLock::shared, false));
    EXPECT_TRUE(platform::lockFile(two, 0, FileLock::shared, false));
    EXPECT_FALSE(platform::lockFile(one, 0, FileLock::sole, false)) << "and it is still shared";
    EXPECT_TRUE(platform::lockFile(two, 0, FileLock::none, false));
    EXPECT_TRUE(platform::lockFile(one, 0, FileLock::sole, false));
    platform::letFileGo(one);
    EXPECT_TRUE(platform::lockFile(two, 0, FileLock::sole, false));
    platform::letFileGo(two);
    ::unlink(path.c_str());
}

} // namespace
} // namespace heapwright::testing
