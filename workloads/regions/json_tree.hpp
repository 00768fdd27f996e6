// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Tidies a JSON tree. It drops members that are null, replaces lists of four or more numbers by
// their sum, and removes blanks at the end of strings. Then writes it. Replaced nodes are freed if
// the arena frees single objects. Tidying twice is the same as once.
#pragma once

#include "json.hpp"

namespace heapwright::workloads::json {

template <class Arena>
class Tree {
public:
    explicit Tree(Arena& arena) : arena_(arena) {}

    void tidy(Value* value) {
        if (value->kind == Kind::String) {
            trim(value);
        } else if (value->kind == Kind::Array || value->kind == Kind::Object) {
            tidyMembers(value);
            if (value->kind == Kind::Array && value->count >= 4 && allNumbers(value)) {
                sumUp(value);
            }
        }
    }

    void write(const Value* value, Growing<Arena>& out) const {
        switch (value->kind) {
        case Kind::Null:
            return out.add("null", 4);
        case Kind::False:
            return out.add("false", 5);
        case Kind::True:
            return out.add("true", 4);
        case Kind::Number:
            return writeNumber(value->number, out);
        case Kind::String:
            return writeText(*value->text, out);
        case Kind::Array:
        case Kind::Object:
            return writeMembers(value, out);
        }
    }

    /// The number of objects made for tidying.
    [[nodiscard]] std::uint64_t objects() const { return objects_; }

private:
    void tidyMembers(Value* value) {
        for (Member** link = &value->members; *link != nullptr;) {
            Member* const member = *link;
            if (member->name != nullptr && member->value->kind == Kind::Null) {
                *link = member->next;
                --value->count;
                arena_.free(member->value);
                arena_.free(member);
            } else {
                tidy(member->value);
                link = &member->next;
            }
        }
    }

    static bool allNumbers(const Value* value) {
        for (const Member* member = value->members; member != nullptr; member = member->next) {
            if (member->value->kind != Kind::Number) {
                return false;
            }
        }
        return true;
    }

    void sumUp(Value* value) {
        double sum = 0;
        for (Member* member = value->members; member != nullptr;) {
            Member* const next = member->next;
            sum += member->value->number;
            arena_.free(member->value);
            arena_.free(member);
            member = next;
        }
        value->kind = Kind::Number;
        value->count = 0;
        value->number = sum;
    }

    void trim(Value* value) {
        Word* const text = value->text;
        std::uint32_t length = text->length;
        while (length != 0 && text->bytes()[length - 1] == ' ') {
            --length;
        }
        if (length != text->length) {
            ++objects_;
            value->text = copiedWord(arena_, text->bytes(), length);
            arena_.free(text);
        }
    }

    static void writeNumber(double number, Growing<Arena>& out) {
        char digits[40];
        const long long hundredths = std::llround(100 * number);
        const int length =
            hundredths % 100 == 0
                ? std::snprintf(digits, sizeof digits, "%lld", hundredths / 100)
                : std::snprintf(digits, sizeof digits, "%s%lld.%02lld", hundredths < 0 ? "-" : "",
                                std::llabs(hundredths) / 100, std::llabs(hundredths) % 100);
        out.add(digits, static_cast<std::size_t>(length));
    }

    static void writeText(const Word& text, Growing<Arena>& out) {
        out.add('"');
        for (std::uint32_t at = 0; at < text.length; ++at) {
            const char byte = text.bytes()[at];
            if (byte == '"' || byte == '\\') {
                out.add('\\');
                out.add(byte);
            } else if (byte == '\n') {
                out.add("\\n", 2);
            } else {
                out.add(byte);
            }
        }
        out.add('"');
    }

    void writeMembers(const Value* value, Growing<Arena>& out) const {
        const bool object = value->kind == Kind::Object;
        out.add(object ? '{' : '[');
        for (const Member* member = value->members; member != nullptr; member = member->next) {
            if (member != value->members) {
                out.add(',');
            }
            if (object) {
                writeText(*member->name, out);
                out.add(':');
            }
            write(member->value, out);
        }
        out.add(object ? '}' : ']');
    }

    Arena& arena_;
    std::uint64_t objects_ = 0;
};

} // namespace heapwright::workloads::json
