// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses the hash table DT_GNU_HASH, as the loader does.
#include "dynamic_symbols.hpp"

#include "checked_memory.hpp"

#include <elf.h>
#include <link.h>

namespace heapwright::recorder::stacks {

namespace {

constexpr std::size_t mostEntries = 256; ///< of the dynamic section
constexpr std::uint32_t mostInChain = 4096;

/// The tables that the dynamic section names.
struct Tables {
    std::uint64_t hash = 0;
    std::uint64_t symbols = 0;
    std::uint64_t strings = 0;
};

std::uint32_t hashOf(const char* name) {
    std::uint32_t hash = 5381;
    for (; *name != '\0'; ++name) {
        hash = hash * 33 + static_cast<unsigned char>(*name);
    }
    return hash;
}

class Exports {
public:
    explicit Exports(const Image& image) noexcept : image_(image) {
        memory_.use(CheckedMemory::Way::direct);
    }

    /// Whether the image has all tables.
    bool open() noexcept {
        for (std::size_t i = 0; i < mostEntries; ++i) {
            ElfW(Dyn) entry{};
            if (!read(image_.dynamic + i * sizeof entry, entry) || entry.d_tag == DT_NULL) {
                break;
            }
            if (entry.d_tag == DT_GNU_HASH) {
                tables_.hash = inMemory(entry.d_un.d_ptr);
            } else if (entry.d_tag == DT_SYMTAB) {
                tables_.symbols = inMemory(entry.d_un.d_ptr);
            } else if (entry.d_tag == DT_STRTAB) {
                tables_.strings = inMemory(entry.d_un.d_ptr);
            }
        }
        return tables_.hash != 0 && tables_.symbols != 0 && tables_.strings != 0;
    }

    std::uint64_t find(const char* name) noexcept {
        struct Head {
            std::uint32_t buckets;
            std::uint32_t firstSymbol;
            std::uint32_t filterWords;
            std::uint32_t shift;
        } head{};
        if (!read(tables_.hash, head) || head.buckets == 0) {
            return 0;
        }
        const std::uint64_t buckets =
            tables_.hash + sizeof head + std::uint64_t{head.filterWords} * sizeof(ElfW(Addr));
        const std::uint64_t chains = buckets + std::uint64_t{head.buckets} * 4;
        const std::uint32_t hash = hashOf(name);
        std::uint32_t symbol = 0;
        if (!read(buckets + std::uint64_t{hash % head.buckets} * 4, symbol) ||
            symbol < head.firstSymbol) {
            return 0;
        }
        for (std::uint32_t i = 0; i < mostInChain; ++i, ++symbol) {
            std::uint32_t there = 0;
            if (!read(chains + std::uint64_t{symbol - head.firstSymbol} * 4, there)) {
                return 0;
            }
            if ((there | 1U) == (hash | 1U)) {
                const std::uint64_t address = addressIf(symbol, name);
                if (address != 0) {
                    return address;
                }
            }
            if ((there & 1U) != 0) {
                break; // the end of the chain
            }
        }
        return 0;
    }

private:
    /// musl leaves addresses of the file in the dynamic section; glibc has those in memory.
    [[nodiscard]] std::uint64_t inMemory(std::uint64_t address) const noexcept {
        return image_.contains(address) ? address : address + image_.bias;
    }

    template <class T>
    bool read(std::uint64_t from, T& value) noexcept {
        return image_.contains(from) && image_.contains(from + sizeof value - 1) &&
               memory_.read(from, value);
    }

    /// The address of a symbol if it has this name and is defined.
    std::uint64_t addressIf(std::uint32_t number, const char* name) noexcept {
        ElfW(Sym) symbol{};
        if (!read(tables_.symbols + std::uint64_t{number} * sizeof symbol, symbol) ||
            symbol.st_shndx == SHN_UNDEF) {
            return 0;
        }
        std::uint64_t at = tables_.strings + symbol.st_name;
        char letter = 0;
        do {
            if (!read(at++, letter) || letter != *name) {
                return 0;
            }
        } while (*name++ != '\0');
        const std::uint64_t address = image_.bias + symbol.st_value;
        return image_.contains(address) ? address : 0;
    }

    const Image& image_;
    CheckedMemory memory_;
    Tables tables_;
};

} // namespace

std::uint64_t findSymbol(const Image& image, const char* name) noexcept {
    if (image.dynamic == 0) {
        return 0;
    }
    Exports exports(image);
    return exports.open() ? exports.find(name) : 0;
}

} // namespace heapwright::recorder::stacks
