// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a program as something to read: a running process, a copy of one, or a core file.
// Invariant: reading never brings a page into the memory of the program that was not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heapwright::look {

using Address = std::uint64_t;

constexpr Address pageBytes = 4096;

constexpr Address pageDown(Address at) {
    return at & ~(pageBytes - 1);
}
constexpr Address pageUp(Address at) {
    return pageDown(at + pageBytes - 1);
}

enum class Page : std::uint8_t { absent, resident, swapped };

struct Mapping {
    Address begin = 0;
    Address end = 0;
    bool readable = false;
    bool writable = false;
    bool executable = false;
    bool isShared = false;
    std::string path;            ///< empty: anonymous
    std::uint64_t resident = 0;  ///< bytes
    std::uint64_t swapped = 0;   ///< bytes
    std::uint64_t lazyFree = 0;  ///< bytes that the system may take (MADV_FREE)
    std::uint64_t anonymous = 0; ///< resident bytes that no file has

    std::uint64_t size() const { return end - begin; }
    bool isFile() const { return !path.empty() && path.front() == '/'; }
    bool isData() const { return readable && writable && !isShared; }
    /// The program wrote it and took the right to write away, as the linker does (RELRO).
    bool isSealed() const { return readable && !writable && !isShared && anonymous != 0; }
    /// Pages that may be an allocator's.
    bool isAnonymousData() const { return isData() && (path.empty() || path == "[heap]"); }
};

class Image {
public:
    virtual ~Image() = default;

    /// Ascending.
    virtual const std::vector<Mapping>& mappings() const = 0;

    /// Fills `to`. What is absent or not readable is zero. Returns false if any resident part could
    /// not be read.
    virtual bool read(Address at, void* to, std::size_t bytes) const = 0;

    /// The states of the pages from `at`, which begins a page.
    virtual void pages(Address at, std::size_t count, Page* to) const = 0;

    template <typename Value>
    bool readValue(Address at, Value& value) const {
        return read(at, &value, sizeof value);
    }

    std::uint64_t word(Address at) const {
        std::uint64_t value = 0;
        readValue(at, value);
        return value;
    }

    /// The bytes of resident pages that are completely in [begin, end).
    std::uint64_t residentBytes(Address begin, Address end) const;

    /// The mapping with this address; null if there is none.
    const Mapping* find(Address at) const;
};

} // namespace heapwright::look
