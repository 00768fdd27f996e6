// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A file's bytes, mapped to be read once from its begin to its end, or bytes that are in memory
// anyway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heapwright::trace {

class FileMap {
public:
    explicit FileMap(const std::string& path); ///< throws std::system_error
    explicit FileMap(std::span<const std::byte> bytes) : bytes_(bytes) {}
    ~FileMap();
    FileMap(const FileMap&) = delete;
    FileMap& operator=(const FileMap&) = delete;

    std::span<const std::byte> bytes() const { return bytes_; }
    /// Whether the file still has at least `size` bytes. Bytes that another program has cut off
    /// since the file was opened can no longer be read, not even to detect that they are missing.
    bool reaches(std::uint64_t size) const noexcept;
    /// Releases these pages from memory. They are released with their neighbours, a mebibyte at a
    /// time, once most of it is unused. Each release costs a system call and an interrupt to the
    /// other threads. Pre: one thread at a time.
    void letGo(std::uint64_t offset, std::size_t count) const noexcept;

private:
    static constexpr unsigned windowShift = 20;

    void drop(std::uint64_t offset, std::size_t count) const noexcept;

    std::span<const std::byte> bytes_;
    mutable std::vector<std::uint32_t>
        gone_;      ///< bytes that were let go, by the window they start in
    int file_ = -1; ///< where it is one
};

} // namespace heapwright::trace
