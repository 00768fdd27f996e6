// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <system_error>
#include <unistd.h>

namespace heapwright::reach {

Memory::Memory(pid_t pid)
    : folder_("/proc/" + std::to_string(pid)),
      file_(open((folder_ + "/mem").c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) {
        throw std::system_error(errno, std::generic_category(), "the memory of the process");
    }
}

Memory::~Memory() {
    close(file_);
}

/// "0 0x3 0x7ffe… … 0xSP 0xPC" of a thread that waits in a call to the system; 0 if it does not.
std::uint64_t Memory::stackPointer() const {
    std::ifstream file(folder_ + "/syscall");
    std::vector<std::string> words;
    for (std::string word; file >> word;) {
        words.push_back(word);
    }
    return words.size() < 3 ? 0 : std::stoull(words[words.size() - 2], nullptr, 16);
}

std::vector<Range> Memory::writable() const {
    std::vector<Range> ranges;
    std::ifstream maps(folder_ + "/maps");
    for (std::string line; std::getline(maps, line);) {
        std::istringstream words(line);
        char dash = 0;
        std::string rights, offset, device, file, path;
        Range range{};
        words >> std::hex >> range.begin >> dash >> range.end >> rights >> offset >> device >>
            file >> path;
        const bool shared = rights.size() == 4 && rights[3] == 's' && file != "0";
        if (rights.size() != 4 || rights[0] != 'r' || rights[1] != 'w' || shared) {
            continue;
        }
        if (path == "[stack]") {
            const std::uint64_t used = stackPointer() & ~std::uint64_t{7};
            range.begin = used > range.begin && used < range.end ? used : range.begin;
        }
        ranges.push_back(range);
    }
    return ranges;
}

std::size_t Memory::read(std::uint64_t address, std::uint64_t* words, std::size_t most) const {
    const ssize_t got = pread(file_, words, most * sizeof *words, static_cast<off_t>(address));
    return got > 0 ? static_cast<std::size_t>(got) / sizeof *words : 0;
}

} // namespace heapwright::reach
