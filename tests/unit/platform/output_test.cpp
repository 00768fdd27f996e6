// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/output.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>

namespace heapwright::testing {
namespace {

/// A path of this test's own, and nothing there afterwards.
class OutputTest : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = ::testing::TempDir() + "heapwright-output-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        path_ = folder_ + "/file";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string contents() const {
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::string folder_;
    std::string path_;
};

TEST_F(OutputTest, WritesItAllToAFileThatIsNew) {
    std::ofstream(path_) << "what was there before";
    const int file = platform::createFile(path_.c_str());
    ASSERT_GE(file, 0);
    const std::string text(300'000, 'x');
    errno = EXDEV;
    EXPECT_TRUE(platform::writeAll(file, text.data(), text.size()));
    EXPECT_TRUE(platform::writeAll(file, "y", 1));
    EXPECT_TRUE(platform::writeAll(file, "", 0));
    platform::closeFile(file);
    EXPECT_EQ(contents(), text + "y");
    EXPECT_EQ(errno, EXDEV);
}

TEST_F(OutputTest, AppendsToAFile) {
    for (const char* line : {"one\n", "two\n"}) {
        const int file = platform::appendToFile(path_.c_str());
        ASSERT_GE(file, 0);
        EXPECT_TRUE(platform::writeAll(file, line, 4));
        platform::closeFile(file);
    }
    EXPECT_EQ(contents(), "one\ntwo\n");
    EXPECT_EQ(platform::appendToFile((folder_ + "/no/such").c_str()), -1);
}

TEST_F(OutputTest, ReplacesAFileInOneStep) {
    const std::string temporary = path_ + ".1";
    std::ofstream(temporary) << "left by a process that has ended";
    errno = EXDEV;
    EXPECT_TRUE(platform::replaceFile(path_.c_str(), temporary.c_str(), "one", 3));
    std::ifstream old(path_);
    EXPECT_TRUE(platform::replaceFile(path_.c_str(), temporary.c_str(), "two", 3));
    EXPECT_EQ(errno, EXDEV);
    EXPECT_EQ(contents(), "two");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(old), {}), "one");
    EXPECT_FALSE(std::filesystem::exists(temporary));
    EXPECT_FALSE(platform::replaceFile(folder_.c_str(), temporary.c_str(), "x", 1));
    EXPECT_FALSE(std::filesystem::exists(temporary));
}

TEST_F(OutputTest, WritesToAFifoAndKeepsIt) {
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    const int reader = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(reader, 0);
    EXPECT_TRUE(platform::replaceFile(path_.c_str(), (path_ + ".1").c_str(), "one", 3));
    std::array<char, 8> got{};
    EXPECT_EQ(::read(reader, got.data(), got.size()), 3);
    EXPECT_STREQ(got.data(), "one");
    ::close(reader);
    EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

TEST_F(OutputTest, WritesThroughALinkAndKeepsIt) {
    const std::string link = folder_ + "/link";
    std::ofstream(path_) << "old ";
    std::filesystem::create_symlink(path_, link);
    EXPECT_TRUE(platform::replaceFile(link.c_str(), (link + ".1").c_str(), "new", 3));
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(contents(), "old new");
}

TEST_F(OutputTest, GivesADescriptorASecondNumberThatIsHigh) {
    const int file = platform::createFile(path_.c_str());
    const int other = platform::duplicateFile(file);
    EXPECT_GE(other, 500);
    EXPECT_EQ(platform::identityOf(file), platform::identityOf(other));
    platform::closeFile(file);
    EXPECT_TRUE(platform::writeAll(other, "x", 1));
    platform::closeFile(other);
    EXPECT_EQ(contents(), "x");
    errno = EXDEV;
    EXPECT_EQ(platform::duplicateFile(other), -1);
    EXPECT_EQ(errno, EXDEV);
}

TEST_F(OutputTest, ReportsAFileThatCannotBeCreated) {
    errno = EXDEV;
    EXPECT_EQ(platform::createFile((folder_ + "/no/such").c_str()), -1);
    EXPECT_EQ(errno, EXDEV);
}

TEST_F(OutputTest, SurvivesAReaderThatHasGone) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ::close(ends[0]);
    EXPECT_FALSE(platform::writeAll(ends[1], "x", 1)) << "and no signal has come";
    ::sigset_t pending;
    ::sigpending(&pending);
    EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
    ::close(ends[1]);
}

TEST_F(OutputTest, LeavesASignalThatWasWaitingBefore) {
    ::sigset_t blocked;
    ::sigset_t before;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
    ::raise(SIGPIPE);
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ::close(ends[0]);
    EXPECT_FALSE(platform::writeAll(ends[1], "x", 1));
    ::close(ends[1]);
    const struct timespec now = {};
    EXPECT_EQ(::sigtimedwait(&blocked, nullptr, &now), SIGPIPE);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(OutputTest, SurvivesALimitOnTheSizeOfFiles) {
    const ::pid_t child = ::fork();
    if (child == 0) {
        const struct rlimit limit = {100, 100};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const int file = platform::createFile(path_.c_str());
        const std::array<char, 400> text{};
        ::_exit(platform::writeAll(file, text.data(), text.size()) ? 1 : 0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_EQ(contents().size(), 100U);
}

TEST_F(OutputTest, KnowsAFileAgain) {
    const int one = platform::createFile(path_.c_str());
    const int other = platform::createFile((path_ + "2").c_str());
    const platform::FileIdentity identity = platform::identityOf(one);
    EXPECT_TRUE(identity == platform::identityOf(one));
    EXPECT_FALSE(identity == platform::identityOf(other));
    platform::closeFile(other);
    platform::closeFile(one);
    EXPECT_FALSE(identity == platform::identityOf(one));
    EXPECT_FALSE(platform::identityOf(one) == platform::identityOf(one)) << "nothing is no file";
}

TEST_F(OutputTest, FindsAVariableByItsWholeName) {
    ::setenv("HEAPWRIGHT_OUTPUT_TEST", "a=b", 1);
    EXPECT_EQ(platform::environmentVariable("HEAPWRIGHT_OUTPUT_TEST"), "a=b");
    EXPECT_EQ(platform::environmentVariable("HEAPWRIGHT_OUTPUT_TES"), "");
    EXPECT_EQ(platform::environmentVariable("HEAPWRIGHT_OUTPUT_TESTS"), "");
    ::unsetenv("HEAPWRIGHT_OUTPUT_TEST");
    EXPECT_EQ(platform::environmentVariable("HEAPWRIGHT_OUTPUT_TEST"), "");
}

TEST_F(OutputTest, KnowsTheProcess) {
    EXPECT_EQ(platform::processNumber(), static_cast<unsigned>(::getpid()));
}

} // namespace
} // namespace heapwright::testing
