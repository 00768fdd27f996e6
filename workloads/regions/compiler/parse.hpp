// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The first phase: from text to the trees of its functions.
#pragma once

#include "language.hpp"

#include <cstring>

namespace heapwright::workloads::compiler {

template <class Arena>
class Parser {
public:
    Parser(const char* begin, std::size_t length, Names<Arena>& names)
        : next_(begin), end_(begin + length), names_(names) {}

    /// Whether another function follows.
    bool more() {
        skip();
        return next_ != end_ && !failed_;
    }

    /// Whether the text was invalid.
    [[nodiscard]] bool failed() const { return failed_; }

    /// Parses a function into the arena.
    Function function(Arena& arena) {
        arena_ = &arena;
        expect("fn");
        const Word* const name = word();
        expect("(");
        const Word* const first = word();
        expect(",");
        const Word* const second = word();
        expect(")");
        return {name, {first, second}, block()};
    }

private:
    void skip() {
        while (next_ != end_ && (*next_ == ' ' || *next_ == '\n')) {
            ++next_;
        }
    }

    static bool inWord(char byte) {
        return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
    }

    bool take(const char* token) {
        skip();
        const std::size_t length = std::strlen(token);
        if (static_cast<std::size_t>(end_ - next_) < length ||
            std::memcmp(next_, token, length) != 0 ||
            (inWord(token[0]) && next_ + length != end_ && inWord(next_[length]))) {
            return false;
        }
        next_ += length;
        return true;
    }

    void expect(const char* token) { failed_ = !take(token) || failed_; }

    const Word* word() {
        skip();
        const char* const begin = next_;
        while (next_ != end_ && inWord(*next_)) {
            ++next_;
        }
        failed_ = failed_ || next_ == begin;
        return names_.named(begin, static_cast<std::size_t>(next_ - begin));
    }

    std::uint64_t number() {
        skip();
        std::uint64_t value = 0;
        failed_ = failed_ || next_ == end_ || *next_ < '0' || *next_ > '9';
        for (; next_ != end_ && *next_ >= '0' && *next_ <= '9'; ++next_) {
            value = 10 * value + static_cast<std::uint64_t>(*next_ - '0');
        }
        return value;
    }

    Statement* block() {
        Statement* first = nullptr;
        Statement** last = &first;
        expect("{");
        while (!failed_ && !take("}")) {
            *last = statement();
            last = &(*last)->next;
        }
        return first;
    }

    Statement* made(typename Statement::Kind kind) {
        return make<Statement>(*arena_, kind, nullptr, std::uint64_t{0}, nullptr, nullptr, nullptr,
                               nullptr);
    }

    Statement* statement() {
        Statement* made = nullptr;
        if (take("if")) {
            made = this->made(Statement::Kind::If);
            expect("(");
            made->expression = expression();
            expect(")");
            made->body = block();
            made->other = take("else") ? block() : nullptr;
            return made;
        }
        if (take("loop")) {
            made = this->made(Statement::Kind::Loop);
            made->rounds = number();
            made->body = block();
            return made;
        }
        if (take("return")) {
            made = this->made(Statement::Kind::Return);
        } else {
            const bool fresh = take("let");
            made = this->made(fresh ? Statement::Kind::Let : Statement::Kind::Assign);
            made->name = word();
            expect("=");
        }
        made->expression = expression();
        expect(";");
        return made;
    }

    Expression* made(typename Expression::Kind kind, Op op, Expression* left, Expression* right) {
        return make<Expression>(*arena_, kind, op, nullptr, std::uint64_t{0}, left, right);
    }

    Expression* expression() {
        if (take("(")) {
            Expression* const left = expression();
            const Op op = binary();
            Expression* const right = expression();
            expect(")");
            return made(Expression::Kind::Binary, op, left, right);
        }
        if (take("-")) {
            Expression* const zero = made(Expression::Kind::Number, Op::Add, nullptr, nullptr);
            return made(Expression::Kind::Binary, Op::Subtract, zero, expression());
        }
        skip();
        if (next_ != end_ && *next_ >= '0' && *next_ <= '9') {
            Expression* const made =
                this->made(Expression::Kind::Number, Op::Add, nullptr, nullptr);
            made->number = number();
            return made;
        }
        return nameOrCall();
    }

    Expression* nameOrCall() {
        Expression* const made = this->made(Expression::Kind::Name, Op::Add, nullptr, nullptr);
        made->name = word();
        if (!failed_ && take("(")) {
            made->kind = Expression::Kind::Call;
            made->left = expression();
            expect(",");
            made->right = expression();
            expect(")");
        }
        return made;
    }

    Op binary() {
        static const char* const operators[] = {"+", "-", "*", "/", "<", "=="};
        for (unsigned at = 0; at < 6; ++at) {
            if (take(operators[at])) {
                return static_cast<Op>(at);
            }
        }
        failed_ = true;
        return Op::Add;
    }

    const char* next_;
    const char* end_;
    Names<Arena>& names_;
    Arena* arena_ = nullptr;
    bool failed_ = false;
};

/// Frees a tree, node by node.
template <class Arena>
void freeTree(Arena& arena, Expression* node) {
    if (node != nullptr) {
        freeTree(arena, node->left);
        freeTree(arena, node->right);
        arena.free(node);
    }
}

template <class Arena>
void freeTree(Arena& arena, Statement* node) {
    while (node != nullptr) {
        Statement* const next = node->next;
        freeTree(arena, node->expression);
        freeTree(arena, node->body);
        freeTree(arena, node->other);
        arena.free(node);
        node = next;
    }
}

} // namespace heapwright::workloads::compiler
