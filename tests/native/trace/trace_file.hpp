// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A file for a trace, gone when the test is over.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace heapwright::trace {

class TraceFile {
public:
    TraceFile() : path_((std::filesystem::temp_directory_path() / "trace-XXXXXX").string()) {
        const int file = ::mkstemp(path_.data());
        if (file < 0)
            throw std::runtime_error("no temporary file");
        ::close(file);
    }
    ~TraceFile() { std::filesystem::remove(path_); }
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    const std::string& path() const { return path_; }

    std::vector<std::byte> bytes() const {
        std::vector<std::byte> bytes(std::filesystem::file_size(path_));
        std::ifstream(path_, std::ios::binary)
            .read(reinterpret_cast<char*>(bytes.data()),
                  static_cast<std::streamsize>(bytes.size()));
        return bytes;
    }

    void write(const std::vector<std::byte>& bytes) const {
        std::ofstream(path_, std::ios::binary | std::ios::trunc)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }

private:
    std::string path_;
};

} // namespace heapwright::trace
