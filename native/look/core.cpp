// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "core.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <iterator>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <unistd.h>

namespace heapwright::look {

namespace {

constexpr std::size_t pointerWord = 19;         ///< rsp in user_regs_struct
constexpr Address lowestStack = 0x7ff000000000; ///< of a first thread, as the kernel places it

[[noreturn]] void refuse(const std::string& why) {
    throw std::runtime_error(why);
}

template <typename Value>
Value valueAt(const char* from) {
    Value value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

bool isZero(const char* page) {
    return page[0] == 0 && std::memcmp(page, page + 1, pageBytes - 1) == 0;
}

std::uint64_t up4(std::uint64_t bytes) {
    return (bytes + 3) & ~std::uint64_t{3};
}

} // namespace

CoreImage::CoreImage(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) {
        refuse(path + " cannot be read: " + std::strerror(errno));
    }
    size_ = static_cast<std::size_t>(status.st_size);
    void* const mapped =
        size_ == 0 ? MAP_FAILED : mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (mapped == MAP_FAILED) {
        refuse(path + (size_ == 0 ? " is empty" : " cannot be mapped"));
    }
    file_ = static_cast<const char*>(mapped);
    if (size_ < sizeof(Elf64_Ehdr) || std::memcmp(file_, ELFMAG, SELFMAG) != 0) {
        refuse(path + " is no core file: it does not begin as one");
    }
    const auto head = valueAt<Elf64_Ehdr>(file_);
    if (head.e_type == ET_EXEC || head.e_type == ET_DYN) {
        refuse(path + " is a program or a library, not a core: start the program and give its PID");
    }
    if (head.e_type != ET_CORE || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_machine != EM_X86_64) {
        refuse(path + " is no core file of a 64-bit x86 program");
    }
    std::uint64_t count = head.e_phnum;
    if (count == PN_XNUM && head.e_shoff + sizeof(Elf64_Shdr) <= size_) {
        count = valueAt<Elf64_Shdr>(file_ + head.e_shoff).sh_info;
    }
    const std::uint64_t room = head.e_phoff < size_ ? size_ - head.e_phoff : 0;
    if (count == 0 || head.e_phentsize != sizeof(Elf64_Phdr) || room / sizeof(Elf64_Phdr) < count) {
        refuse(path + " is truncated within its first tables");
    }
    std::vector<Elf64_Phdr> notes;
    for (std::uint64_t each = 0; each < count; ++each) {
        const auto part = valueAt<Elf64_Phdr>(file_ + head.e_phoff + each * sizeof(Elf64_Phdr));
        if (part.p_type == PT_NOTE) {
            notes.push_back(part);
        }
        if (part.p_type != PT_LOAD || part.p_memsz == 0 ||
            part.p_vaddr + part.p_memsz < part.p_vaddr) {
            continue;
        }
        addPart(part.p_vaddr, part.p_memsz, part.p_filesz, part.p_offset, part.p_flags);
    }
    std::sort(parts_.begin(), parts_.end(),
              [](const Part& one, const Part& other) { return one.begin < other.begin; });
    std::sort(mappings_.begin(), mappings_.end(),
              [](const Mapping& one, const Mapping& other) { return one.begin < other.begin; });
    for (const Elf64_Phdr& note : notes) {
        addNotes(note.p_offset, note.p_filesz);
    }
    if (mappings_.empty()) {
        refuse(path + " contains no memory");
    }
    markStack();
    for (Mapping& mapping : mappings_) {
        mapping.resident = mapping.readable ? residentBytes(mapping.begin, mapping.end) : 0;
    }
}

CoreImage::~CoreImage() {
    munmap(const_cast<char*>(file_), size_);
}

/// What the file does not contain of a mapping becomes a mapping without rights.
void CoreImage::addPart(Address begin, std::uint64_t memory, std::uint64_t inFile,
                        std::uint64_t offset, std::uint32_t flags) {
    const std::uint64_t left = offset < size_ ? size_ - offset : 0;
    const std::uint64_t bytes = std::min(inFile, left);
    missing_ += inFile - bytes;
    parts_.push_back({begin, std::min(bytes, memory), offset});
    Mapping mapping;
    mapping.begin = pageUp(begin);
    mapping.end = std::min(pageUp(begin + parts_.back().bytes), pageDown(begin + memory));
    mapping.readable = (flags & PF_R) != 0;
    mapping.writable = (flags & PF_W) != 0;
    mapping.executable = (flags & PF_X) != 0;
    if (mapping.begin < mapping.end) {
        mappings_.push_back(mapping);
    }
    Mapping rest;
    rest.begin = std::max(mapping.begin, mapping.end);
    rest.end = pageDown(begin + memory);
    if (rest.begin < rest.end) {
        mappings_.push_back(rest);
    }
}

void CoreImage::addNotes(std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t end = offset < size_ ? offset + std::min(bytes, size_ - offset) : 0;
    while (offset + sizeof(Elf64_Nhdr) <= end) {
        const auto head = valueAt<Elf64_Nhdr>(file_ + offset);
        const std::uint64_t content = offset + sizeof head + up4(head.n_namesz);
        if (content + head.n_descsz > end) {
            return;
        }
        if (head.n_type == NT_PRSTATUS) {
            addThread(file_ + content, head.n_descsz);
        } else if (head.n_type == NT_FILE) {
            addFiles(file_ + content, head.n_descsz);
        }
        offset = content + up4(head.n_descsz);
    }
}

void CoreImage::addThread(const char* description, std::size_t bytes) {
    if (bytes < sizeof(prstatus_t)) {
        return;
    }
    const auto status = valueAt<prstatus_t>(description);
    std::uint64_t words[sizeof status.pr_reg / sizeof(std::uint64_t)];
    std::memcpy(words, &status.pr_reg, sizeof words);
    registers_.insert(registers_.end(), std::begin(words), std::end(words));
    stackPointers_.push_back(words[pointerWord]);
    pid_ = pid_ == 0 ? status.pr_pid : pid_;
}

/// NT_FILE: count, page size, then begin, end and offset of each; then the names.
void CoreImage::addFiles(const char* description, std::size_t bytes) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    if (bytes < 2 * word) {
        return;
    }
    const auto count = valueAt<std::uint64_t>(description);
    if (count > (bytes - 2 * word) / (3 * word)) {
        return;
    }
    const char* name = description + (2 + 3 * count) * word;
    const char* const end = description + bytes;
    for (std::uint64_t each = 0; each < count && name < end; ++each) {
        const char* const range = description + (2 + 3 * each) * word;
        const auto begin = valueAt<std::uint64_t>(range);
        const auto behind = valueAt<std::uint64_t>(range + word);
        const std::size_t length = strnlen(name, static_cast<std::size_t>(end - name));
        auto mapping = std::lower_bound(
            mappings_.begin(), mappings_.end(), begin,
            [](const Mapping& some, Address wanted) { return some.begin < wanted; });
        for (; mapping != mappings_.end() && mapping->end <= behind; ++mapping) {
            mapping->path.assign(name, length);
        }
        name += length + 1;
    }
}

/// The kernel names no anonymous mapping in a core. The first thread's stack is the highest mapping
/// with a stack pointer.
void CoreImage::markStack() {
    if (stackPointers_.empty()) {
        return;
    }
    const Address highest = *std::max_element(stackPointers_.begin(), stackPointers_.end());
    for (Mapping& mapping : mappings_) {
        if (mapping.begin <= highest && highest < mapping.end && mapping.path.empty() &&
            highest >= lowestStack) {
            mapping.path = "[stack]";
        }
    }
}

const char* CoreImage::at(Address address, std::size_t& bytes) const {
    const auto after =
        std::upper_bound(parts_.begin(), parts_.end(), address,
                         [](Address wanted, const Part& each) { return wanted < each.begin; });
    if (after == parts_.begin()) {
        return nullptr;
    }
    const Part& part = *std::prev(after);
    if (address - part.begin >= part.bytes) {
        return nullptr;
    }
    bytes = std::min<std::uint64_t>(bytes, part.bytes - (address - part.begin));
    return file_ + part.offset + (address - part.begin);
}

bool CoreImage::read(Address address, void* to, std::size_t bytes) const {
    auto* bytesTo = static_cast<char*>(to);
    bool complete = true;
    while (bytes > 0) {
        std::size_t part = bytes;
        if (const char* const from = at(address, part)) {
            std::memcpy(bytesTo, from, part);
        } else {
            part = std::min<std::uint64_t>(bytes, pageDown(address) + pageBytes - address);
            std::memset(bytesTo, 0, part);
            complete = false;
        }
        address += part;
        bytesTo += part;
        bytes -= part;
    }
    return complete;
}

void CoreImage::pages(Address address, std::size_t count, Page* to) const {
    for (std::size_t page = 0; page < count; ++page, address += pageBytes) {
        std::size_t bytes = pageBytes;
        const char* const from = at(address, bytes);
        to[page] =
            from == nullptr || (bytes == pageBytes && isZero(from)) ? Page::absent : Page::resident;
    }
}

} // namespace heapwright::look
