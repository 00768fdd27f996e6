// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads /proc/PID/maps, and finds the file's own address 0 from its program headers.
#include "drag/valgrind/mappings.hpp"

#include <elf.h>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace heapwright::drag {

namespace {

/// The file's own address of the byte at `offset`.
std::optional<std::uint64_t> addressInFile(const std::string& path, std::uint64_t offset) {
    std::ifstream file(path, std::ios::binary);
    Elf64_Ehdr header{};
    if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
        std::string(reinterpret_cast<const char*>(header.e_ident), SELFMAG) != ELFMAG) {
        return std::nullopt;
    }
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
        if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) {
            return std::nullopt;
        }
        if (segment.p_type == PT_LOAD && offset - segment.p_offset < segment.p_filesz) {
            return offset - segment.p_offset + segment.p_vaddr;
        }
    }
    return std::nullopt;
}

} // namespace

bool addMappingOf(pid_t process, std::uint64_t address, Modules& modules) {
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    std::string line;
    while (std::getline(maps, line)) {
        std::istringstream words(line);
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::uint64_t offset = 0;
        char dash = 0;
        std::string rights;
        std::string device;
        std::string node;
        std::string path;
        words >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> node >> std::ws;
        std::getline(words, path);
        if (address - begin >= end - begin || path.empty() || path[0] != '/') {
            continue;
        }
        const std::uint64_t place = address - begin + offset;
        if (const auto inFile = addressInFile(path, place)) {
            modules.add(begin, end, address - *inFile, path);
            return true;
        }
    }
    return false;
}

} // namespace heapwright::drag
