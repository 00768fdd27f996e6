// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A copy of the resident private writable memory of a stopped process. The room for it is reserved
// and touched before the process is stopped, so the pause is the time of the copy alone.
#pragma once

#include "process.hpp"

#include <cstddef>
#include <vector>

namespace heapwright::look {

class CopyImage final : public Image {
public:
    /// Reserves room for what is resident now, and a tenth more. Throws std::runtime_error if this
    /// machine does not have it.
    explicit CopyImage(const ProcessImage& process);
    ~CopyImage() override;
    CopyImage(const CopyImage&) = delete;
    CopyImage& operator=(const CopyImage&) = delete;

    /// Pre: the process is stopped. Returns the bytes.
    std::size_t copy();

    const std::vector<Mapping>& mappings() const override { return mappings_; }
    bool read(Address at, void* to, std::size_t bytes) const override;
    void pages(Address at, std::size_t count, Page* to) const override;

private:
    struct Run {
        Address begin;
        Address end;
        Page state;
        const char* copy; ///< null for swapped pages
    };

    void addRuns(const Mapping& mapping);
    void copyRuns();
    const Run* find(Address at) const;

    const ProcessImage& process_;
    std::vector<Mapping> mappings_;
    std::vector<Run> runs_; ///< ascending
    char* room_ = nullptr;
    std::size_t size_ = 0;
    std::size_t used_ = 0;
};

} // namespace heapwright::look
