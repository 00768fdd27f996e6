// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See sources.hpp.
#include "sources.hpp"

#include "support/memory.hpp"

#include <heapwright/core/random.hpp>

#include <cstdio>
#include <cstring>

namespace heapwright::workloads::compiler {

namespace {

constexpr std::size_t largestFunction = 64 << 10; ///< far larger than any function can be
constexpr unsigned deepestBlock = 3;
constexpr unsigned deepestExpression = 5;

class Writer {
public:
    Writer(char* buffer, Random random) : begin_(buffer), next_(buffer), random_(random) {}

    std::size_t module(std::uint64_t functions) {
        for (std::uint64_t at = 0; at < functions; ++at) {
            function(at);
        }
        return static_cast<std::size_t>(next_ - begin_);
    }

private:
    void put(const char* text) {
        const std::size_t bytes = std::strlen(text);
        std::memcpy(next_, text, bytes);
        next_ += bytes;
    }

    void number(const char* before, std::uint64_t value) {
        char digits[48];
        std::snprintf(digits, sizeof digits, "%s%llu", before,
                      static_cast<unsigned long long>(value));
        put(digits);
    }

    void function(std::uint64_t which) {
        calls_ = which >= leaves;
        number("fn routine", which);
        put("(first, second) {\n");
        known_ = 0;
        for (std::uint64_t at = random_.between(3, 12); at-- != 0;) {
            statement(0);
        }
        put("return ");
        expression(0);
        put(";\n}\n");
    }

    void block(unsigned depth) {
        put("{\n");
        const std::uint64_t known = known_;
        for (std::uint64_t at = random_.between(1, 4); at-- != 0;) {
            statement(depth + 1);
        }
        known_ = known; // its declarations are visible only inside it
        put("}\n");
    }

    void statement(unsigned depth) {
        const std::uint64_t kind = random_.below(depth < deepestBlock ? 10 : 6);
        if (kind < 3 || known_ == 0) {
            number("let temporary_", known_);
            put(" = ");
            expression(0);
            put(";\n");
            ++known_;
        } else if (kind < 6) {
            number("temporary_", random_.below(known_));
            put(" = ");
            expression(0);
            put(";\n");
        } else if (kind < 9) {
            put("if (");
            expression(2);
            put(") ");
            block(depth);
            if (random_.below(2) == 0) {
                put("else ");
                block(depth);
            }
        } else {
            number("loop ", random_.between(1, 3));
            put(" ");
            block(depth);
        }
    }

    void expression(unsigned depth) {
        static const char* const operators[] = {" + ", " - ", " * ", " / ", " < ", " == "};
        const std::uint64_t kind = random_.below(10);
        if (depth >= deepestExpression || kind < 3) {
            operand();
        } else if (kind < 9) {
            put("(");
            expression(depth + 1);
            put(operators[random_.below(6)]);
            expression(depth + 1);
            put(")");
        } else if (calls_ && depth < 2) {
            number("routine", random_.below(leaves));
            put("(");
            expression(depth + 2);
            put(", ");
            expression(depth + 2);
            put(")");
        } else {
            put("-");
            operand();
        }
    }

    void operand() {
        const std::uint64_t kind = random_.below(4);
        if (kind == 0) {
            number("", random_.below(1000));
        } else if (kind == 1 && known_ != 0) {
            number("temporary_", random_.below(known_));
        } else {
            put(kind == 2 ? "first" : "second");
        }
    }

    char* begin_;
    char* next_;
    Random random_;
    std::uint64_t known_ = 0; ///< number of names declared here
    bool calls_ = false;
};

} // namespace

Sources::Sources(std::uint64_t seed, std::uint64_t count, std::uint64_t functions)
    : count_(count), pieces_(mapArray<TextPiece>(count)) {
    const std::size_t room = functions * largestFunction;
    char* const buffer = mapArray<char>(room);
    for (std::uint64_t at = 0; at < count; ++at) {
        const std::size_t length = Writer(buffer, Random(seed, at)).module(functions);
        char* const kept = mapArray<char>(length);
        std::memcpy(kept, buffer, length);
        pieces_[at] = {kept, length};
    }
    unmapPages(buffer, room);
}

} // namespace heapwright::workloads::compiler
