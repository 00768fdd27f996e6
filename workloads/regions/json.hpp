// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A JSON parser that builds a tree in an arena, node by node. The tree is then tidied, which makes
// some nodes superfluous and others new, and written. Each name of a member is stored once per
// document.
//
// Numbers are kept to two decimals, which are all that is written. Invalid JSON gives null.
#pragma once

#include "names.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace heapwright::workloads::json {

enum class Kind : std::uint32_t { Null, False, True, Number, String, Array, Object };

struct Value;

struct Member {
    Member* next;
    const Word* name; ///< null in an array
    Value* value;
};

struct Value {
    Kind kind;
    std::uint32_t count; ///< of members
    union {
        double number;
        Word* text;
        Member* members;
    };
};

/// Frees a value and everything in it.
template <class Arena>
void freeTree(Arena& arena, Value* value) {
    if (value->kind == Kind::String) {
        arena.free(value->text);
    } else if (value->kind == Kind::Array || value->kind == Kind::Object) {
        for (Member* member = value->members; member != nullptr;) {
            Member* const next = member->next;
            freeTree(arena, member->value);
            arena.free(member);
            member = next;
        }
    }
    arena.free(value);
}

template <class Arena>
class Parser {
public:
    /// `scratch` is for data outside the tree.
    Parser(Arena& arena, Arena& scratch, Names<Arena>& names)
        : arena_(arena), names_(names), buffer_(scratch) {}

    /// The tree of a whole text; null if it is invalid.
    Value* parse(const char* begin, std::size_t length) {
        next_ = begin;
        end_ = begin + length;
        Value* const value = parseValue(0);
        skip();
        return value == nullptr || next_ == end_ ? value : dropped(value);
    }

    /// The number of objects made.
    [[nodiscard]] std::uint64_t objects() const { return objects_ + buffer_.objects(); }

private:
    static constexpr unsigned deepest = 500;

    void skip() {
        while (next_ != end_ &&
               (*next_ == ' ' || *next_ == '\n' || *next_ == '\t' || *next_ == '\r')) {
            ++next_;
        }
    }

    bool take(char byte) {
        skip();
        if (next_ == end_ || *next_ != byte) {
            return false;
        }
        ++next_;
        return true;
    }

    bool take(const char* word) {
        const std::size_t length = std::strlen(word);
        if (static_cast<std::size_t>(end_ - next_) < length ||
            std::memcmp(next_, word, length) != 0) {
            return false;
        }
        next_ += length;
        return true;
    }

    /// Returns null and drops what was read so far. In a region it stays until the region ends.
    Value* dropped(Value* value) {
        if constexpr (!Arena::bulk) {
            freeTree(arena_, value);
        }
        return nullptr;
    }

    Value* made(Kind kind) {
        ++objects_;
        auto* const value = static_cast<Value*>(arena_.malloc(sizeof(Value)));
        value->kind = kind;
        value->count = 0;
        value->members = nullptr;
        return value;
    }

    Value* parseValue(unsigned depth) {
        skip();
        if (next_ == end_ || depth > deepest) {
            return nullptr;
        }
        switch (*next_) {
        case '{':
            return parseMembers(Kind::Object, '}', depth);
        case '[':
            return parseMembers(Kind::Array, ']', depth);
        case '"':
            return parseString();
        case 't':
            return take("true") ? made(Kind::True) : nullptr;
        case 'f':
            return take("false") ? made(Kind::False) : nullptr;
        case 'n':
            return take("null") ? made(Kind::Null) : nullptr;
        default:
            return parseNumber();
        }
    }

    Value* parseMembers(Kind kind, char close, unsigned depth) {
        ++next_;
        Value* const value = made(kind);
        Member** last = &value->members;
        if (take(close)) {
            return value;
        }
        do {
            const Word* name = nullptr;
            if (kind == Kind::Object) {
                skip();
                if (!readString() || !take(':')) {
                    return dropped(value);
                }
                name = names_.named(buffer_.text(), buffer_.length());
            }
            Value* const inside = parseValue(depth + 1);
            if (inside == nullptr) {
                return dropped(value);
            }
            ++objects_;
            *last = make<Member>(arena_, nullptr, name, inside);
            last = &(*last)->next;
            ++value->count;
        } while (take(','));
        return take(close) ? value : dropped(value);
    }

    Value* parseString() {
        if (!readString()) {
            return nullptr;
        }
        Value* const value = made(Kind::String);
        ++objects_;
        value->text = copiedWord(arena_, buffer_.text(), buffer_.length());
        return value;
    }

    /// Reads a string into the buffer and resolves its escapes.
    bool readString() {
        if (next_ == end_ || *next_++ != '"') {
            return false;
        }
        buffer_.empty();
        buffer_.add('\0'); // so that the buffer exists
        buffer_.empty();
        while (next_ != end_ && *next_ != '"') {
            const char byte = *next_++;
            if (byte != '\\') {
                buffer_.add(byte);
            } else if (!readEscape()) {
                return false;
            }
        }
        return next_ != end_ && *next_++ == '"';
    }

    bool readEscape() {
        if (next_ == end_) {
            return false;
        }
        const char byte = *next_++;
        static const char names[] = "\"\\/bfnrt";
        static const char values[] = "\"\\/\b\f\n\r\t";
        if (byte == 'u') {
            return readCodePoint();
        }
        const char* const found = byte == '\0' ? nullptr : std::strchr(names, byte);
        if (found == nullptr) {
            return false;
        }
        buffer_.add(values[found - names]);
        return true;
    }

    /// As UTF-8. Surrogates are encoded separately, which suffices here.
    bool readCodePoint() {
        unsigned point = 0;
        for (int digit = 0; digit < 4; ++digit, ++next_) {
            if (next_ == end_) {
                return false;
            }
            const char byte = *next_;
            const bool decimal = byte >= '0' && byte <= '9';
            const char lower = static_cast<char>(byte | 0x20);
            if (!decimal && (lower < 'a' || lower > 'f')) {
                return false;
            }
            point = 16 * point + static_cast<unsigned>(decimal ? byte - '0' : lower - 'a' + 10);
        }
        if (point < 0x80) {
            buffer_.add(static_cast<char>(point));
        } else if (point < 0x800) {
            buffer_.add(static_cast<char>(0xC0U | point >> 6U));
            buffer_.add(static_cast<char>(0x80U | (point & 0x3FU)));
        } else {
            buffer_.add(static_cast<char>(0xE0U | point >> 12U));
            buffer_.add(static_cast<char>(0x80U | (point >> 6U & 0x3FU)));
            buffer_.add(static_cast<char>(0x80U | (point & 0x3FU)));
        }
        return true;
    }

    [[nodiscard]] bool atDigit() const { return next_ != end_ && *next_ >= '0' && *next_ <= '9'; }

    Value* parseNumber() {
        const bool negative = take("-");
        if (!atDigit()) {
            return nullptr;
        }
        double number = 0;
        for (; atDigit(); ++next_) {
            number = 10 * number + (*next_ - '0');
        }
        if (next_ != end_ && *next_ == '.') {
            double place = 1;
            for (++next_; atDigit(); ++next_) {
                place /= 10;
                number += place * (*next_ - '0');
            }
        }
        Value* const value = made(Kind::Number);
        value->number = negative ? -number : number;
        return value;
    }

    Arena& arena_;
    Names<Arena>& names_;
    Growing<Arena> buffer_;
    const char* next_ = nullptr;
    const char* end_ = nullptr;
    std::uint64_t objects_ = 0;
};

} // namespace heapwright::workloads::json
