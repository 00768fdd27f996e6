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

namespace heapwright::trace {

class FileMap {
public:
    explicit FileMap(const std::string& path); ///< throws std::system_error
    explicit FileMap(std::span<const std::byte> bytes) : bytes_(bytes) {}
    ~FileMap();
    FileMap(const FileMap&) = delete;
    FileMap& operator=(const FileMap&) = delete;

    std::span<const std::byte> bytes() const { return bytes_; }
    void letGo(std::uint64_t offset, std::size_t count) const noexcept;

private:
    std::span<const std::byte> bytes_;
    bool mapped_ = false;
};

} // namespace heapwright::trace
