// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "symbols.hpp"

#include <algorithm>
#include <elf.h>
#include <vector>

namespace heapwright::attach {

namespace {

constexpr std::size_t mostSymbols = 1 << 20;
constexpr std::size_t mostNames = 64 << 20;

struct Tables {
    Address symbols = 0;
    Address names = 0;
    std::size_t namesSize = 0;
    Address gnuHash = 0;
};

/// The loader has made most of these addresses absolute.
Address absolute(Address base, Address value) {
    return value < base ? base + value : value;
}

Tables readTables(pid_t pid, Address base, Address dynamic, std::size_t bytes) {
    Tables tables;
    std::vector<Elf64_Dyn> entries(std::min<std::size_t>(bytes / sizeof(Elf64_Dyn), 1024));
    if (!readMemory(pid, dynamic, entries.data(), entries.size() * sizeof(Elf64_Dyn))) {
        return tables;
    }
    for (const Elf64_Dyn& entry : entries) {
        switch (entry.d_tag) {
        case DT_SYMTAB:
            tables.symbols = absolute(base, entry.d_un.d_ptr);
            break;
        case DT_STRTAB:
            tables.names = absolute(base, entry.d_un.d_ptr);
            break;
        case DT_STRSZ:
            tables.namesSize = entry.d_un.d_val;
            break;
        case DT_GNU_HASH:
            tables.gnuHash = absolute(base, entry.d_un.d_ptr);
            break;
        default:
            break;
        }
    }
    return tables;
}

/// The hash table orders the symbols. Its last chain ends behind the last symbol.
std::size_t countSymbols(pid_t pid, Address hash) {
    std::uint32_t head[4] = {}; // buckets, first symbol, words of the filter, shift
    if (!readMemory(pid, hash, head, sizeof head) || head[0] > mostSymbols) {
        return 0;
    }
    std::vector<std::uint32_t> buckets(head[0]);
    const Address at = hash + sizeof head + Address{head[2]} * sizeof(std::uint64_t);
    if (!readMemory(pid, at, buckets.data(), buckets.size() * sizeof(std::uint32_t))) {
        return 0;
    }
    std::size_t last = buckets.empty() ? 0 : *std::max_element(buckets.begin(), buckets.end());
    if (last < head[1]) {
        return 0;
    }
    const Address chains = at + buckets.size() * sizeof(std::uint32_t);
    std::uint32_t link = 0;
    while (last < mostSymbols &&
           readMemory(pid, chains + (last - head[1]) * sizeof link, &link, sizeof link)) {
        ++last;
        if ((link & 1U) != 0) {
            return last;
        }
    }
    return 0;
}

} // namespace

Symbols readSymbols(pid_t pid, Address base) {
    Symbols found;
    Elf64_Ehdr header = {};
    if (!readMemory(pid, base, &header, sizeof header) || header.e_phnum > 256 ||
        header.e_ident[EI_CLASS] != ELFCLASS64) {
        return found;
    }
    std::vector<Elf64_Phdr> parts(header.e_phnum);
    if (!readMemory(pid, base + header.e_phoff, parts.data(), parts.size() * sizeof(Elf64_Phdr))) {
        return found;
    }
    const Address bias = header.e_type == ET_EXEC ? 0 : base;
    Tables tables;
    for (const Elf64_Phdr& part : parts) {
        const Address begin = bias + part.p_vaddr;
        if (part.p_type == PT_LOAD) {
            found.end = std::max(found.end, begin + part.p_memsz);
            if ((part.p_flags & PF_X) != 0) {
                found.textBegin = found.textBegin == 0 ? begin : std::min(found.textBegin, begin);
                found.textEnd = std::max(found.textEnd, begin + part.p_memsz);
            }
        } else if (part.p_type == PT_DYNAMIC) {
            tables = readTables(pid, bias, begin, part.p_memsz);
        }
    }
    const std::size_t count = tables.gnuHash == 0 ? 0 : countSymbols(pid, tables.gnuHash);
    std::vector<Elf64_Sym> symbols(count);
    std::vector<char> names(std::min(tables.namesSize, mostNames) + 1, '\0');
    if (!readMemory(pid, tables.symbols, symbols.data(), count * sizeof(Elf64_Sym)) ||
        !readMemory(pid, tables.names, names.data(), names.size() - 1)) {
        return found;
    }
    for (const Elf64_Sym& symbol : symbols) {
        const auto type = ELF64_ST_TYPE(symbol.st_info);
        if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < names.size() &&
            (type == STT_FUNC || type == STT_GNU_IFUNC)) {
            const Address begin = bias + symbol.st_value;
            found.functions.emplace(&names[symbol.st_name],
                                    Function{begin, begin + symbol.st_size});
        }
    }
    return found;
}

} // namespace heapwright::attach
