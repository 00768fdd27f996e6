// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks the loader, then reads the object's program headers where they lie in memory. They were
// good enough for the loader; still nothing is read outside of the object.
#include "image.hpp"

#include "bytes.hpp"
#include "readable.hpp"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

namespace heapwright::recorder::stacks {

namespace {

/// An object as the loader describes it.
struct Headers {
    const ElfW(Phdr) * first = nullptr;
    std::size_t count = 0;
};

const std::uint8_t* bytesAt(std::uint64_t address) {
    return reinterpret_cast<const std::uint8_t*>(address);
}

/// The readable segment that a range of the object lies in.
const ElfW(Phdr) * segmentOf(const Headers& headers, std::uint64_t from, std::uint64_t length) {
    for (std::size_t i = 0; i < headers.count; ++i) {
        const ElfW(Phdr)& segment = headers.first[i];
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0 && from >= segment.p_vaddr &&
            from - segment.p_vaddr <= segment.p_filesz &&
            length <= segment.p_filesz - (from - segment.p_vaddr)) {
            return &segment;
        }
    }
    return nullptr;
}

void takeTable(const Headers& headers, const ElfW(Phdr) & header, Image& image) {
    if (const ElfW(Phdr)* const segment = segmentOf(headers, header.p_vaddr, header.p_memsz)) {
        image.table = bytesAt(image.bias + header.p_vaddr);
        image.segment = bytesAt(image.bias + segment->p_vaddr);
        image.segmentEnd = image.segment + segment->p_filesz;
    }
}

void takeBuildId(const Headers& headers, const ElfW(Phdr) & header, Image& image) {
    if (image.buildId != nullptr || segmentOf(headers, header.p_vaddr, header.p_memsz) == nullptr) {
        return;
    }
    const std::uint8_t* const begin = bytesAt(image.bias + header.p_vaddr);
    Bytes notes(begin, begin + header.p_memsz);
    while (!notes.empty()) {
        const auto nameLength = notes.take<std::uint32_t>();
        const auto length = notes.take<std::uint32_t>();
        const auto type = notes.take<std::uint32_t>();
        const std::uint8_t* const name = notes.skip((std::uint64_t{nameLength} + 3) & ~3ULL);
        const std::uint8_t* const value = notes.skip((std::uint64_t{length} + 3) & ~3ULL);
        if (value != nullptr && type == NT_GNU_BUILD_ID && nameLength == 4 && length <= 64 &&
            std::memcmp(name, "GNU", 4) == 0) {
            image.buildId = value;
            image.buildIdLength = length;
            return;
        }
    }
}

void takeHeaders(const Headers& headers, Image& image) {
    for (std::size_t i = 0; i < headers.count; ++i) {
        const ElfW(Phdr)& header = headers.first[i];
        if (header.p_type == PT_GNU_EH_FRAME) {
            takeTable(headers, header, image);
        } else if (header.p_type == PT_NOTE) {
            takeBuildId(headers, header, image);
        } else if (header.p_type == PT_DYNAMIC) {
            image.dynamic = image.bias + header.p_vaddr;
        }
    }
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
/// The program headers of an object that begins, as nearly all do, with its ELF header.
Headers headersAt(std::uint64_t begin, std::uint64_t end) {
    ElfW(Ehdr) header;
    if (end - begin < smallestPage || !isReadable(begin)) {
        return {};
    }
    std::memcpy(&header, bytesAt(begin), sizeof header);
    const std::uint64_t length = std::uint64_t{header.e_phnum} * sizeof(ElfW(Phdr));
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phoff % 8 != 0 ||
        header.e_phoff > smallestPage || length > smallestPage - header.e_phoff) {
        return {};
    }
    return {reinterpret_cast<const ElfW(Phdr)*>(begin + header.e_phoff), header.e_phnum};
}

enum class Answer : std::uint8_t { found, none, unasked };

/// `_dl_find_object` of glibc 2.35. A reference to it, even a weak one, would need this version of
/// glibc, so the constructor asks for its name. Null before that, and with an older C library.
using Finder = int (*)(void* address, dl_find_object* result);
constinit Finder finder = nullptr;

[[gnu::constructor]] void lookUpFinder() {
    finder = reinterpret_cast<Finder>(::dlsym(RTLD_DEFAULT, "_dl_find_object"));
}

Answer askFinder(std::uint64_t address, Image& image) {
    if (finder == nullptr) {
        return Answer::unasked;
    }
    dl_find_object found{};
    if (finder(reinterpret_cast<void*>(address), &found) != 0) {
        return Answer::none;
    }
    image.begin = reinterpret_cast<std::uint64_t>(found.dlfo_map_start);
    image.end = reinterpret_cast<std::uint64_t>(found.dlfo_map_end);
    image.bias = found.dlfo_link_map->l_addr;
    image.path = found.dlfo_link_map->l_name != nullptr ? found.dlfo_link_map->l_name : "";
    takeHeaders(headersAt(image.begin, image.end), image);
    return Answer::found;
}
#else
enum class Answer : std::uint8_t { found, none, unasked };

Answer askFinder(std::uint64_t, Image&) {
    return Answer::unasked;
}
#endif

struct Search {
    std::uint64_t address;
    Image* image;
};

int look(dl_phdr_info* object, std::size_t, void* data) {
    const Search& search = *static_cast<Search*>(data);
    std::uint64_t begin = ~std::uint64_t{0};
    std::uint64_t end = 0;
    for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = object->dlpi_phdr[i];
        if (header.p_type == PT_LOAD) {
            const std::uint64_t at = object->dlpi_addr + header.p_vaddr;
            begin = at < begin ? at : begin;
            end = at + header.p_memsz > end ? at + header.p_memsz : end;
        }
    }
    if (search.address < begin || search.address >= end) {
        return 0;
    }
    Image& image = *search.image;
    image.begin = begin;
    image.end = end;
    image.bias = object->dlpi_addr;
    image.path = object->dlpi_name != nullptr ? object->dlpi_name : "";
    takeHeaders({object->dlpi_phdr, object->dlpi_phnum}, image);
    return 1;
}

} // namespace

bool findImage(std::uint64_t address, Image& image) noexcept {
    image = Image{};
    const Answer answer = askFinder(address, image);
    if (answer != Answer::unasked) {
        return answer == Answer::found;
    }
    Search search{address, &image};
    return dl_iterate_phdr(&look, &search) != 0;
}

} // namespace heapwright::recorder::stacks
