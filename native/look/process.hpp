// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a process that keeps running. Needs the right to trace the process. A page that is
// not resident is never read, because a read would bring it into memory.
// Cost: two system calls for a read.
#pragma once

#include "image.hpp"

#include <string>
#include <sys/types.h>

namespace heapwright::look {

class ProcessImage final : public Image {
public:
    /// Throws std::system_error if the process has ended or cannot be read.
    explicit ProcessImage(pid_t pid);
    ~ProcessImage() override;
    ProcessImage(const ProcessImage&) = delete;
    ProcessImage& operator=(const ProcessImage&) = delete;

    const std::vector<Mapping>& mappings() const override { return mappings_; }
    bool read(Address at, void* to, std::size_t bytes) const override;
    void pages(Address at, std::size_t count, Page* to) const override;

    /// The mappings of this moment, without figures.
    std::vector<Mapping> mappingsNow() const;

    /// Whether the process whose memory was opened still exists.
    bool isAlive() const;

    pid_t pid() const { return pid_; }

    /// Reads pages that are resident. Returns how many bytes could be read.
    std::size_t copy(Address at, char* to, std::size_t bytes) const;

private:
    std::string folder_;
    pid_t pid_;
    int memory_;
    int pagemap_;
    std::string started_;
    std::vector<Mapping> mappings_;
};

/// A word of /proc/PID/stat that differs for a later process of the same number. Empty if the
/// process has ended.
std::string startOf(pid_t pid);

} // namespace heapwright::look
