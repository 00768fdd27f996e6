// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The second phase: from the tree to a list of instructions with as many registers as needed.
#pragma once

#include "language.hpp"

namespace heapwright::workloads::compiler {

template <class Arena>
class Lowering {
public:
    /// Instructions are allocated in the arena, and so are the names in scope.
    Lowering(Arena& arena, const Compiled* known, std::size_t knownCount)
        : arena_(arena), known_(known), knownCount_(knownCount) {}

    Instruction* lower(const Function& function) {
        bind(function.parameters[0]);
        bind(function.parameters[1]);
        block(function.body);
        unbind(nullptr);
        return first_;
    }

    [[nodiscard]] Register registers() const { return registers_; }
    [[nodiscard]] std::uint64_t labels() const { return labels_; }
    /// Whether a name was unknown.
    [[nodiscard]] bool failed() const { return failed_; }

private:
    struct Binding {
        Binding* below;
        const Word* name;
        Register place;
    };

    Register bind(const Word* name) {
        scope_ = make<Binding>(arena_, scope_, name, registers_);
        return registers_++;
    }

    void unbind(Binding* to) {
        while (scope_ != to) {
            Binding* const below = scope_->below;
            arena_.free(scope_);
            scope_ = below;
        }
    }

    Register find(const Word* name) {
        for (const Binding* each = scope_; each != nullptr; each = each->below) {
            if (each->name == name) {
                return each->place;
            }
        }
        failed_ = true;
        return 0;
    }

    std::uint64_t callee(const Word* name) {
        for (std::size_t at = 0; at < knownCount_; ++at) {
            if (known_[at].name == name) {
                return at;
            }
        }
        failed_ = true;
        return 0;
    }

    void emit(Op op, Register to, Register left, Register right, std::uint64_t number) {
        *last_ = make<Instruction>(arena_, nullptr, op, to, left, right, number);
        last_ = &(*last_)->next;
    }

    Register value(const Expression* node) {
        switch (node->kind) {
        case Expression::Kind::Number:
            emit(Op::Constant, registers_, 0, 0, node->number);
            return registers_++;
        case Expression::Kind::Name:
            return find(node->name);
        case Expression::Kind::Binary: {
            const Register left = value(node->left);
            const Register right = value(node->right);
            emit(node->op, registers_, left, right, 0);
            return registers_++;
        }
        default: {
            const Register left = value(node->left);
            const Register right = value(node->right);
            emit(Op::Call, registers_, left, right, callee(node->name));
            return registers_++;
        }
        }
    }

    void block(const Statement* statement) {
        Binding* const outside = scope_;
        for (; statement != nullptr; statement = statement->next) {
            one(statement);
        }
        unbind(outside);
    }

    void one(const Statement* statement) {
        switch (statement->kind) {
        case Statement::Kind::Let: {
            const Register from = value(statement->expression);
            emit(Op::Move, bind(statement->name), from, 0, 0);
            return;
        }
        case Statement::Kind::Assign: {
            const Register from = value(statement->expression);
            emit(Op::Move, find(statement->name), from, 0, 0);
            return;
        }
        case Statement::Kind::If:
            return branch(statement);
        case Statement::Kind::Loop:
            return loop(statement);
        case Statement::Kind::Return:
            emit(Op::Return, 0, value(statement->expression), 0, 0);
        }
    }

    void branch(const Statement* statement) {
        const std::uint64_t otherwise = labels_++;
        const std::uint64_t end = labels_++;
        emit(Op::JumpIfZero, 0, value(statement->expression), 0, otherwise);
        block(statement->body);
        emit(Op::Jump, 0, 0, 0, end);
        emit(Op::Label, 0, 0, 0, otherwise);
        block(statement->other);
        emit(Op::Label, 0, 0, 0, end);
    }

    void loop(const Statement* statement) {
        const std::uint64_t top = labels_++;
        const std::uint64_t end = labels_++;
        const Register rounds = registers_++;
        const Register one = registers_++;
        emit(Op::Constant, rounds, 0, 0, statement->rounds);
        emit(Op::Label, 0, 0, 0, top);
        emit(Op::JumpIfZero, 0, rounds, 0, end);
        block(statement->body);
        emit(Op::Constant, one, 0, 0, 1);
        emit(Op::Subtract, rounds, rounds, one, 0);
        emit(Op::Jump, 0, 0, 0, top);
        emit(Op::Label, 0, 0, 0, end);
    }

    Arena& arena_;
    const Compiled* known_;
    std::size_t knownCount_;
    Binding* scope_ = nullptr;
    Instruction* first_ = nullptr;
    Instruction** last_ = &first_;
    Register registers_ = 0;
    std::uint64_t labels_ = 0;
    bool failed_ = false;
};

} // namespace heapwright::workloads::compiler
