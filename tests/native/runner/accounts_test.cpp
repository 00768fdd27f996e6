// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "runner/run/accounts.hpp"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace heapwright::runner {
namespace {

constexpr Nanoseconds millisecond = 1'000'000;
constexpr pid_t shell = 100;
constexpr pid_t child = 101;

/// A file of witnesses, written here instead of by processes.
class Accounting : public ::testing::Test {
protected:
    void SetUp() override {
        path_ = ::testing::TempDir() + "accounts-" + std::to_string(getpid());
        ASSERT_TRUE(witness_.create(path_.c_str()));
        const int file = open(path_.c_str(), O_RDWR | O_CLOEXEC);
        ASSERT_GE(file, 0);
        void* const address =
            mmap(nullptr, sizeof(witness::File), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        ASSERT_NE(address, MAP_FAILED);
        file_ = static_cast<witness::File*>(address);
    }

    void TearDown() override {
        if (file_ != nullptr) {
            munmap(file_, sizeof(witness::File));
        }
        std::remove(path_.c_str());
    }

    witness::Record& starts(pid_t pid, pid_t parent) {
        witness::Record& record = file_->records[file_->claimed++];
        record.pid = pid;
        record.parent = parent;
        record.startNs = time_++;
        record.state = witness::published;
        return record;
    }

    /// The process reports this at its exit.
    void exits(witness::Record& record, Nanoseconds cpu, std::uint32_t faults) {
        record.endNs = time_++;
        record.cpuNs = static_cast<std::uint64_t>(cpu);
        record.faults = faults;
        record.peakKb = 1024;
        record.state = witness::published | witness::exited;
    }

    /// What the parent received from wait.
    void isReaped(pid_t pid, pid_t reaper, Nanoseconds cpu, std::uint32_t faults) {
        witness::Reaped& reaped = file_->reaped[file_->claimedReaped++];
        reaped.pid = pid;
        reaped.reaper = reaper;
        reaped.cpuNs = static_cast<std::uint64_t>(cpu);
        reaped.faults = faults;
        reaped.timeNs = time_++;
        reaped.state = witness::published;
    }

    Nanoseconds cpuOf(pid_t pid) {
        for (const Account& account : settle(witness_, {}, millisecond).list) {
            if (account.pid == pid) {
                return account.cpu;
            }
        }
        return -1;
    }

private:
    std::string path_;
    WitnessFile witness_;
    witness::File* file_ = nullptr;
    std::uint64_t time_ = 1;
};

TEST_F(Accounting, TimeAfterTheLastReportIsTheProcesssOwnWithoutFaults) {
    exits(starts(child, shell), 3 * millisecond, 120);
    isReaped(child, shell, 8 * millisecond, 124);
    EXPECT_EQ(cpuOf(child), 8 * millisecond);
}

TEST_F(Accounting, TimeWithFaultsMayBeThatOfAnUnknownChild) {
    exits(starts(child, shell), 3 * millisecond, 120);
    isReaped(child, shell, 8 * millisecond, 150);
    EXPECT_GE(cpuOf(child), 3 * millisecond);
    EXPECT_LT(cpuOf(child), 4 * millisecond);
}

TEST_F(Accounting, FaultsOfKnownChildrenAreNotTheParents) {
    constexpr pid_t grandchild = 102;
    witness::Record& parent = starts(child, shell);
    exits(starts(grandchild, child), 2 * millisecond, 300);
    isReaped(grandchild, child, 2 * millisecond, 300);
    exits(parent, 3 * millisecond, 120);
    isReaped(child, shell, 10 * millisecond, 420);
    EXPECT_EQ(cpuOf(grandchild), 2 * millisecond);
    EXPECT_EQ(cpuOf(child), 8 * millisecond);
}

} // namespace
} // namespace heapwright::runner
