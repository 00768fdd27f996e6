// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Decodes each instruction once, from its file.
#include "code.hpp"

#include "valgrind/lackey/log_line.hpp"

#include <array>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

namespace heapwright::valgrind {

namespace {

constexpr std::size_t longestInstruction = 15;

/// The dynamic linker, which binds a symbol at its first use.
bool isLoader(std::string_view file) {
    const std::size_t slash = file.rfind('/');
    return file.substr(slash == std::string_view::npos ? 0 : slash + 1).substr(0, 3) == "ld-";
}

} // namespace

void Code::add(std::uint64_t start, std::uint64_t end, std::uint64_t offset,
               std::string_view file) {
    segments_.push_back({start, end, offset, std::string(file)});
}

void Code::setMarks(std::uint64_t address) {
    if (const Segment* const segment = segmentOf(address)) {
        marks_ = *segment;
    }
}

Code::Instruction Code::at(std::uint64_t address) {
    const auto [place, fresh] = known_.try_emplace(address);
    if (fresh) {
        place->second = look(address);
    }
    return place->second;
}

const Code::Segment* Code::segmentOf(std::uint64_t address) const {
    // The newest mapping counts, because it may have replaced an older one.
    for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment) {
        if (address >= segment->start && address < segment->end) {
            return &*segment;
        }
    }
    return nullptr;
}

void Code::readMappings() {
    // start-end perms offset device inode   path
    std::ifstream mappings("/proc/" + std::to_string(process_) + "/maps");
    for (std::string line; std::getline(mappings, line);) {
        Fields words(line);
        const std::uint64_t start = words.hexadecimal();
        words.skip("-");
        const std::uint64_t end = words.hexadecimal();
        words.skip(" ");
        const bool runs = words.rest().size() > 4 && words.rest()[2] == 'x';
        words.find(" ");
        const std::uint64_t offset = words.hexadecimal();
        const std::size_t path = words.rest().find('/');
        if (runs && words.good() && path != std::string_view::npos) {
            add(start, end, offset, words.rest().substr(path));
        }
    }
}

Code::Instruction Code::look(std::uint64_t address) {
    if (address >= marks_.start && address < marks_.end) {
        return {Origin::marks, Locking::none};
    }
    const Segment* segment = segmentOf(address);
    if (segment == nullptr && !readMappings_) {
        readMappings_ = true;
        readMappings();
        segment = segmentOf(address);
    }
    if (segment == nullptr) {
        return {};
    }
    const int file = open(segment->file.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return {};
    }
    std::array<std::uint8_t, longestInstruction> bytes{};
    const auto offset = static_cast<off_t>(segment->offset + (address - segment->start));
    const ssize_t got = pread(file, bytes.data(), bytes.size(), offset);
    close(file);
    if (got <= 0) {
        return {};
    }
    return {isLoader(segment->file) ? Origin::loader : Origin::ordinary,
            lockingOf({bytes.data(), static_cast<std::size_t>(got)})};
}

} // namespace heapwright::valgrind
