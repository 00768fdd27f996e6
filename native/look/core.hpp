// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory in a core file. A core does not say which pages were resident, so a page of zeros
// counts as absent. Files that were mapped are never opened: what the core lacks is unreadable.
#pragma once

#include "image.hpp"

#include <string>
#include <sys/types.h>

namespace heapwright::look {

class CoreImage final : public Image {
public:
    /// Throws std::runtime_error with a sentence if the file is no core of this kind of machine.
    explicit CoreImage(const std::string& path);
    ~CoreImage() override;
    CoreImage(const CoreImage&) = delete;
    CoreImage& operator=(const CoreImage&) = delete;

    const std::vector<Mapping>& mappings() const override { return mappings_; }
    bool read(Address at, void* to, std::size_t bytes) const override;
    void pages(Address at, std::size_t count, Page* to) const override;

    /// Bytes that the file should have and lacks, because it was truncated.
    std::uint64_t missingBytes() const { return missing_; }
    /// All registers of all threads.
    const std::vector<std::uint64_t>& registers() const { return registers_; }
    const std::vector<Address>& stackPointers() const { return stackPointers_; }
    pid_t pid() const { return pid_; }

private:
    struct Part {
        Address begin;
        std::uint64_t bytes; ///< in the file
        std::uint64_t offset;
    };

    void addPart(Address begin, std::uint64_t memory, std::uint64_t inFile, std::uint64_t offset,
                 std::uint32_t flags);
    const char* at(Address address, std::size_t& bytes) const;
    void addNotes(std::uint64_t offset, std::uint64_t bytes);
    void addThread(const char* description, std::size_t bytes);
    void addFiles(const char* description, std::size_t bytes);
    void markStack();

    const char* file_ = nullptr;
    std::size_t size_ = 0;
    std::vector<Part> parts_; ///< ascending
    std::vector<Mapping> mappings_;
    std::vector<std::uint64_t> registers_;
    std::vector<Address> stackPointers_;
    std::uint64_t missing_ = 0;
    pid_t pid_ = 0;
};

} // namespace heapwright::look
