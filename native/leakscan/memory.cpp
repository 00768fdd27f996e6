// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace heapwright::leakscan {

namespace {

/// No program fills more. Larger mappings are maps with an entry for each address, as those of
/// sanitizers and of the library that counts.
constexpr std::uint64_t largestMapping = std::uint64_t{4} << 40;

struct Mapping {
    Range range{};
    std::string rights; ///< "rw-p": read, write, execute, private or shared
    std::string file;   ///< inode number; 0 if there is none
    std::string path;
    bool changed = false; ///< it has pages that no file has, in memory or swapped out

    bool may(char right) const { return rights.find(right) != std::string::npos; }
};

bool isCLibrary(const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    return name.starts_with("libc.so") || name.starts_with("libc-2.");
}

/// Parses the line of smaps that begins a mapping. False for a line about one: "Anonymous: 4 kB".
bool beginsMapping(const std::string& line, Mapping& mapping) {
    std::istringstream words(line);
    char dash = 0;
    std::string offset, device;
    words >> std::hex >> mapping.range.begin >> dash >> mapping.range.end >> mapping.rights >>
        offset >> device >> mapping.file >> mapping.path;
    return dash == '-' && !mapping.rights.empty();
}

std::vector<Mapping> mappings(const std::string& folder) {
    std::vector<Mapping> all;
    std::ifstream smaps(folder + "/smaps");
    for (std::string line; std::getline(smaps, line);) {
        if (Mapping mapping; beginsMapping(line, mapping)) {
            all.push_back(mapping);
        } else if (!all.empty() && (line.starts_with("Anonymous:") || line.starts_with("Swap:"))) {
            all.back().changed |= std::stoull(line.substr(line.find(':') + 1)) != 0;
        }
    }
    return all;
}

} // namespace

ProcessMemory::ProcessMemory(pid_t pid)
    : folder_("/proc/" + std::to_string(pid)),
      file_(open((folder_ + "/mem").c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) {
        throw std::system_error(errno, std::generic_category(), "the memory of the process");
    }
}

ProcessMemory::~ProcessMemory() {
    close(file_);
}

/// Parses "0 0x3 0x7ffe… … 0xSP 0xPC", the state of a thread in a system call. 0 if it is in none.
std::uint64_t ProcessMemory::stackPointer() const {
    std::ifstream file(folder_ + "/syscall");
    std::vector<std::string> words;
    for (std::string word; file >> word;) {
        words.push_back(word);
    }
    return words.size() < 3 ? 0 : std::stoull(words[words.size() - 2], nullptr, 16);
}

std::vector<Range> ProcessMemory::written() const {
    std::vector<Range> ranges;
    for (const Mapping& mapping : mappings(folder_)) {
        const bool shared = mapping.may('s') && mapping.file != "0";
        const bool leftOut = std::any_of(leftOut_.begin(), leftOut_.end(), [&](const Range& each) {
            return each.begin <= mapping.range.begin && mapping.range.end <= each.end;
        });
        const bool map = mapping.range.end - mapping.range.begin > largestMapping;
        if (!mapping.may('r') || shared || leftOut || map ||
            !(mapping.may('w') || mapping.changed)) {
            continue;
        }
        Range range = mapping.range;
        range.ofCLibrary = isCLibrary(mapping.path);
        if (mapping.path == "[stack]") {
            const std::uint64_t used = stackPointer() & ~std::uint64_t{7};
            range.begin = used > range.begin && used < range.end ? used : range.begin;
        }
        ranges.push_back(range);
    }
    return ranges;
}

std::vector<Range> ProcessMemory::readable() const {
    std::vector<Range> ranges;
    for (const Mapping& mapping : mappings(folder_)) {
        if (mapping.may('r')) {
            ranges.push_back(mapping.range);
        }
    }
    return ranges;
}

/// Parses lines such as "tfd: 5 events: 19 data: 55d0c8a6c2a0 pos:0 ino:1c49 sdev:8".
std::vector<std::uint64_t> ProcessMemory::ofKernel() const {
    constexpr std::string_view field = "data:";
    std::vector<std::uint64_t> words;
    std::error_code ignored; // a process without access has none
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/fdinfo", ignored)) {
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) {
            const std::size_t at = line.find(field);
            if (line.starts_with("tfd:") && at != std::string::npos) {
                words.push_back(std::strtoull(line.c_str() + at + field.size(), nullptr, 16));
            }
        }
    }
    return words;
}

std::size_t ProcessMemory::read(std::uint64_t address, std::uint64_t* words,
                                std::size_t most) const {
    const ssize_t got = pread(file_, words, most * sizeof *words, static_cast<off_t>(address));
    return got > 0 ? static_cast<std::size_t>(got) / sizeof *words : 0;
}

} // namespace heapwright::leakscan
