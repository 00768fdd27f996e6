// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The front end of a parser: names are read byte by byte, with unknown length, and looked up. A
// known name is dropped. A new one gets a symbol, and with it its full name. The declarations of a
// block are freed with the block.
//
// A `Place` stores the data. It can build one name after another, byte by byte (`add`, then
// `finished`), and drop the last one. It can make an object, and begin and end a scope.
#pragma once

#include "../documents.hpp"
#include "support/memory.hpp"

#include <cstdint>
#include <cstring>

namespace heapwright::workloads::symbols {

struct Symbol {
    Symbol* nextInBucket;
    Symbol* nextInScope;
    const char* name;
    const char* fullName;
    std::uint32_t length;
    std::uint32_t hash;
    std::uint64_t uses;
};

struct Found {
    std::uint64_t objects = 0;
    std::uint64_t digest = 0xcbf29ce484222325U;
};

inline constexpr unsigned deepest = 64; ///< depth of nested blocks

template <class Place>
class Load {
public:
    Load() : buckets_(mapArray<Symbol*>(bucketCount)) {}
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;
    ~Load() { unmapPages(buckets_, bucketCount * sizeof(Symbol*)); }

    /// Reads a text and adds what it finds.
    void read(const TextPiece& text, Found& found) {
        found_ = &found;
        open();
        const char* const end = text.begin + text.length;
        bool declares = false;
        for (const char* at = text.begin; at != end;) {
            if (*at >= 'a' && *at <= 'z') {
                at = name(at, end, declares);
                continue;
            }
            if (*at == '{' && depth_ < deepest) {
                open();
            } else if (*at == '}' && depth_ > 1) {
                close();
            }
            ++at;
        }
        while (depth_ != 0) {
            close();
        }
    }

private:
    static constexpr std::size_t bucketCount = 1024;

    static bool inName(char byte) {
        return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
    }

    void open() {
        place_.open();
        scopes_[depth_++] = nullptr;
    }

    void close() {
        Symbol* const first = scopes_[--depth_];
        for (const Symbol* each = first; each != nullptr; each = each->nextInScope) {
            buckets_[each->hash % bucketCount] = each->nextInBucket; // newest first
            for (const char* byte = each->fullName; *byte != '\0'; ++byte) {
                mix(static_cast<unsigned char>(*byte));
            }
            mix(each->uses);
        }
        place_.close(first);
    }

    void mix(std::uint64_t value) { found_->digest = (found_->digest ^ value) * 0x100000001b3U; }

    const char* name(const char* at, const char* end, bool& declares) {
        std::uint32_t hash = 0x811c9dc5U;
        std::uint32_t length = 0;
        for (; at != end && inName(*at); ++at, ++length) {
            place_.add(*at);
            hash = (hash ^ static_cast<unsigned char>(*at)) * 0x01000193U;
        }
        place_.add('\0');
        const char* const text = place_.finished();
        ++found_->objects;
        Symbol* symbol = declares ? nullptr : find(text, length, hash);
        if (symbol != nullptr) {
            place_.drop(text);
        } else {
            symbol = declare(text, length, hash);
        }
        ++symbol->uses;
        declares = length == 3 && std::memcmp(symbol->name, "let", 3) == 0;
        return at;
    }

    Symbol* find(const char* text, std::uint32_t length, std::uint32_t hash) {
        Symbol* symbol = buckets_[hash % bucketCount];
        while (symbol != nullptr && (symbol->hash != hash || symbol->length != length ||
                                     std::memcmp(symbol->name, text, length) != 0)) {
            symbol = symbol->nextInBucket;
        }
        return symbol;
    }

    Symbol* declare(const char* text, std::uint32_t length, std::uint32_t hash) {
        for (unsigned each = 0; each < depth_; ++each) { // a path of the first names
            const Symbol* const outer = scopes_[each];
            for (const char* byte = outer == nullptr ? "" : outer->name; *byte != '\0'; ++byte) {
                place_.add(*byte);
            }
            place_.add('.');
        }
        for (std::uint32_t at = 0; at <= length; ++at) {
            place_.add(text[at]);
        }
        const char* const fullName = place_.finished();
        found_->objects += 2;
        Symbol*& bucket = buckets_[hash % bucketCount];
        Symbol*& scope = scopes_[depth_ - 1];
        auto* const symbol = static_cast<Symbol*>(place_.object(sizeof(Symbol)));
        *symbol = {bucket, scope, text, fullName, length, hash, 0};
        bucket = scope = symbol;
        return symbol;
    }

    Place place_;
    Symbol** buckets_;
    Symbol* scopes_[deepest] = {};
    unsigned depth_ = 0;
    Found* found_ = nullptr;
};

/// With the C library's obstacks, and with those of heapwright/c/obstack.h. Their headers exclude
/// each other, so each has a file of its own.
void readInLibrary(const TextPiece* texts, std::uint64_t count, std::uint64_t times,
                   std::uint64_t first, Found& found);
void readInOurs(const TextPiece* texts, std::uint64_t count, std::uint64_t times,
                std::uint64_t first, Found& found);

/// Reads `times` texts in turn.
template <class Place>
void readMany(const TextPiece* texts, std::uint64_t count, std::uint64_t times, std::uint64_t first,
              Found& found) {
    Load<Place> load;
    for (std::uint64_t at = 0; at < times; ++at) {
        load.read(texts[(first + at) % count], found);
    }
}

} // namespace heapwright::workloads::symbols
