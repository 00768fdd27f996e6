// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See documents.hpp.
#include "documents.hpp"

#include "support/memory.hpp"

#include <heapwright/core/random.hpp>

#include <cstdio>
#include <cstring>

namespace heapwright::workloads {

namespace {

constexpr unsigned deepest = 6;
constexpr std::size_t largestRecord = 256 << 10; ///< far larger than any record can be

/// Writes values into a buffer while there is room for another record.
class Writer {
public:
    Writer(char* buffer, Random random) : begin_(buffer), next_(buffer), random_(random) {}

    std::size_t document(std::uint64_t bytes) {
        put('[');
        do {
            if (length() > 1) {
                put(',');
            }
            object(0);
        } while (length() < bytes);
        put(']');
        return length();
    }

private:
    [[nodiscard]] std::size_t length() const { return static_cast<std::size_t>(next_ - begin_); }
    void put(char byte) { *next_++ = byte; }
    void put(const char* text) {
        const std::size_t bytes = std::strlen(text);
        std::memcpy(next_, text, bytes);
        next_ += bytes;
    }

    // The number of members decreases with the depth, so the size of a record is bounded.
    void object(unsigned depth) {
        put('{');
        const std::uint64_t members = random_.between(1, 9 - depth);
        for (std::uint64_t at = 0; at < members; ++at) {
            put(at == 0 ? "" : ", ");
            name(at);
            put(": ");
            value(depth + 1);
        }
        put('}');
    }

    void array(unsigned depth) {
        put('[');
        const std::uint64_t items = random_.below(8 - depth);
        const bool numbers = random_.below(2) == 0;
        for (std::uint64_t at = 0; at < items; ++at) {
            put(at == 0 ? "" : ",");
            if (numbers) {
                number();
            } else {
                value(depth + 1);
            }
        }
        put(']');
    }

    void value(unsigned depth) {
        const std::uint64_t kind = random_.below(depth < deepest ? 16 : 11);
        if (kind < 5) {
            string();
        } else if (kind < 9) {
            number();
        } else if (kind < 11) {
            put(kind == 9 ? "null" : random_.below(2) == 0 ? "true" : "false");
        } else if (kind < 14) {
            object(depth);
        } else {
            array(depth);
        }
    }

    /// One of some hundred names; those of one object are different.
    void name(std::uint64_t member) {
        put('"');
        word(static_cast<std::uint32_t>(random_.below(48)));
        put(static_cast<char>('a' + member));
        put('"');
    }

    void word(std::uint32_t which) {
        static const char* const syllables[] = {"ka", "lo", "mir", "ten", "su", "vel", "or", "pa"};
        put(syllables[which % 8]);
        put(syllables[which / 8 % 8]);
    }

    void string() {
        put('"');
        const std::uint64_t words = random_.below(random_.below(8) == 0 ? 40 : 8);
        for (std::uint64_t at = 0; at < words; ++at) {
            word(static_cast<std::uint32_t>(random_.below(64)));
            const std::uint64_t mark = random_.below(12);
            put(mark == 0 ? "\\n" : mark == 1 ? "\\\"" : mark == 2 ? "\\u00e9" : " ");
        }
        put('"');
    }

    void number() {
        char digits[32];
        const auto whole = static_cast<long long>(random_.below(2'000'000)) - 1'000'000;
        if (random_.below(2) == 0) {
            std::snprintf(digits, sizeof digits, "%lld", whole);
        } else {
            std::snprintf(digits, sizeof digits, "%lld.%02llu", whole,
                          static_cast<unsigned long long>(random_.below(100)));
        }
        put(digits);
    }

    char* begin_;
    char* next_;
    Random random_;
};

} // namespace

Documents::Documents(std::uint64_t seed, std::uint64_t count, std::uint64_t bytes)
    : count_(count), pieces_(mapArray<TextPiece>(count)) {
    const std::size_t room = bytes + largestRecord;
    char* const buffer = mapArray<char>(room);
    for (std::uint64_t at = 0; at < count; ++at) {
        const std::size_t length = Writer(buffer, Random(seed, at)).document(bytes);
        char* const kept = mapArray<char>(length);
        std::memcpy(kept, buffer, length);
        pieces_[at] = {kept, length};
    }
    unmapPages(buffer, room);
}

} // namespace heapwright::workloads
