// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/observe/descriptor_trace.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace heapwright::testing {
namespace {

/// A pipe that the test reads.
struct ToPipe {
    static constexpr bool perProcess = false;
    static int open() noexcept { return writeEnd; }
    static inline int writeEnd = -1;
};

using Trace = DescriptorTrace<ToPipe, 256>;
using FileTrace = DescriptorTrace<ToFilePerProcess, 256>;
static_assert(TraceSink<Trace> && TraceSink<FileTrace>);

TraceRecord record(std::uint64_t sequence) {
    return {sequence, Verb::malloc, 0, 0, 40, 0x1000};
}

std::string line(std::uint64_t sequence) {
    return std::to_string(sequence) + " malloc 40 = 0x1000\n";
}

class DescriptorTraceTest : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(::pipe(ends_.data()), 0);
        ToPipe::writeEnd = ends_[1];
        std::string pattern = ::testing::TempDir() + "heapwright-trace-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        ::setenv("HEAPWRIGHT_TRACE", (folder_ + "/t").c_str(), 1);
    }
    void TearDown() override {
        ::unsetenv("HEAPWRIGHT_TRACE");
        std::filesystem::remove_all(folder_);
        ::close(ends_[0]);
        ::close(ends_[1]);
    }

    /// What is in the pipe; something must be.
    std::string arrived() const {
        std::array<char, 4096> text{};
        const ::ssize_t count = ::read(ends_[0], text.data(), text.size());
        return {text.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
    }
    std::string written(::pid_t process) const {
        std::ifstream file(folder_ + "/t." + std::to_string(process));
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::array<int, 2> ends_{};
    std::string folder_;
};

TEST_F(DescriptorTraceTest, WritesWholeLinesWhenTheBufferIsFull) {
    Trace trace;
    std::string expected;
    for (std::uint64_t i = 1; i <= 12; ++i) { // 20 bytes each; 12 fill it but for a rest
        trace.write(record(i));
        expected += line(i);
    }
    trace.write(record(13));
    EXPECT_EQ(arrived(), expected);
    trace.flush();
    EXPECT_EQ(arrived(), line(13));
    EXPECT_EQ(trace.lost(), 0U);
}

TEST_F(DescriptorTraceTest, WritesTheRestWhenItIsDestroyed) {
    {
        Trace trace;
        trace.write(record(1));
    }
    EXPECT_EQ(arrived(), line(1));
}

TEST_F(DescriptorTraceTest, WritesTheRestWhenTheProcessExits) {
    const ::pid_t child = ::fork();
    if (child == 0) {
        alignas(Trace) static unsigned char room[sizeof(Trace)];
        ::new (static_cast<void*>(room)) Trace(); // and never destroys it
        reinterpret_cast<Trace*>(room)->write(record(7));
        std::exit(0); // NOLINT(concurrency-mt-unsafe)
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(arrived(), line(7));
}

TEST_F(DescriptorTraceTest, AFailingWriteEndsTheTraceAlone) {
    Trace trace;
    ::close(ends_[0]);
    for (std::uint64_t i = 1; i <= 100; ++i) {
        trace.write(record(i));
    }
    trace.flush();
    EXPECT_EQ(trace.lost(), 100U);
    ends_[0] = -1;
}

TEST_F(DescriptorTraceTest, DoesNotWriteIntoAReusedDescriptor) {
    Trace trace;
    trace.write(record(1));
    trace.flush();
    EXPECT_EQ(arrived(), line(1));
    std::array<int, 2> others{};
    ASSERT_EQ(::pipe(others.data()), 0);
    ASSERT_EQ(::dup2(others[1], ends_[1]), ends_[1]); // the number is another pipe's now
    ::close(others[1]);
    trace.write(record(2));
    trace.flush();
    EXPECT_EQ(trace.lost(), 1U);
    ::close(ends_[1]);
    ends_[1] = -1;
    char byte = 0;
    EXPECT_EQ(::read(others[0], &byte, 1), 0);
    ::close(others[0]);
}

TEST_F(DescriptorTraceTest, GoesToAFileOfTheProcess) {
    {
        FileTrace trace;
        for (std::uint64_t i = 1; i <= 20; ++i) {
            trace.write(record(i));
        }
    }
    std::string expected;
    for (std::uint64_t i = 1; i <= 20; ++i) {
        expected += line(i);
    }
    EXPECT_EQ(written(::getpid()), expected);
}

TEST_F(DescriptorTraceTest, AChildWritesAFileOfItsOwn) {
    FileTrace trace;
    trace.write(record(1));
    trace.flush();
    const ::pid_t child = ::fork();
    if (child == 0) {
        trace.forked();
        trace.write(record(2));
        trace.flush();
        ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    trace.write(record(3));
    trace.flush();
    EXPECT_EQ(written(::getpid()), line(1) + line(3));
    EXPECT_EQ(written(child), line(2));
}

TEST_F(DescriptorTraceTest, AChildDropsTheBufferOfItsParent) {
    Trace trace;
    trace.write(record(1));
    trace.forked();
    trace.write(record(2));
    trace.flush();
    EXPECT_EQ(arrived(), line(2));
}

TEST_F(DescriptorTraceTest, WithoutAPlaceToGoRecordsAreCounted) {
    ::unsetenv("HEAPWRIGHT_TRACE");
    FileTrace unset;
    unset.write(record(1));
    unset.flush();
    unset.write(record(2));
    EXPECT_EQ(unset.lost(), 2U);
    ::setenv("HEAPWRIGHT_TRACE", (folder_ + "/no/such").c_str(), 1);
    FileTrace wrong;
    wrong.write(record(1));
    wrong.flush();
    EXPECT_EQ(wrong.lost(), 1U);
}

} // namespace
} // namespace heapwright::testing
