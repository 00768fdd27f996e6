// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The last phase, which places the code, and the machine that runs it. For comparison, also the
// meaning of a tree.
#pragma once

#include "language.hpp"

namespace heapwright::workloads::compiler {

/// The code is allocated in `code`, for the life of the module.
template <class Arena>
Compiled placed(const Word* name, const Instruction* first, Register registers,
                std::uint64_t labels, Arena& code, Arena& tables) {
    Array<std::uint64_t, Arena> places(tables, labels);
    std::size_t length = 0;
    for (const Instruction* at = first; at != nullptr; at = at->next) {
        if (at->op == Op::Label) {
            places[at->number] = length;
        } else {
            ++length;
        }
    }
    auto* const codes = static_cast<Code*>(code.malloc(length * sizeof(Code)));
    Code* next = codes;
    for (const Instruction* at = first; at != nullptr; at = at->next) {
        if (at->op != Op::Label) {
            const bool jumps = at->op == Op::Jump || at->op == Op::JumpIfZero;
            *next++ = {at->op, at->to, at->left, at->right,
                       jumps ? places[at->number] : at->number};
        }
    }
    return {name, codes, length, registers};
}

/// Runs a function. Each call has its registers in the arena.
template <class Arena>
std::uint64_t run(const Compiled* module, const Compiled& function, std::uint64_t first,
                  std::uint64_t second, Arena& frames) {
    Array<std::uint64_t, Arena> registers(frames, function.registers);
    registers[0] = first;
    registers[1] = second;
    for (std::size_t at = 0; at < function.length;) {
        const Code& code = function.code[at++];
        switch (code.op) {
        case Op::Constant:
            registers[code.to] = code.number;
            break;
        case Op::Move:
            registers[code.to] = registers[code.left];
            break;
        case Op::Call:
            registers[code.to] = run(module, module[code.number], registers[code.left],
                                     registers[code.right], frames);
            break;
        case Op::Jump:
            at = code.number;
            break;
        case Op::JumpIfZero:
            at = registers[code.left] == 0 ? code.number : at;
            break;
        case Op::Return:
            return registers[code.left];
        case Op::Label:
            break;
        default:
            registers[code.to] = applied(code.op, registers[code.left], registers[code.right]);
        }
    }
    return 0;
}

/// The meaning of a tree. Names are on this program's stack.
class Meaning {
public:
    /// `call(name, first, second)` returns the result of that function.
    template <class Call>
    static std::uint64_t of(const Function& function, std::uint64_t first, std::uint64_t second,
                            const Call& call) {
        Meaning meaning;
        meaning.values_[0] = {function.parameters[0], first};
        meaning.values_[1] = {function.parameters[1], second};
        meaning.count_ = 2;
        meaning.block(function.body, call);
        return meaning.result_;
    }

private:
    struct Binding {
        const Word* name;
        std::uint64_t value;
    };

    std::uint64_t& find(const Word* name) {
        std::size_t at = count_;
        while (values_[at - 1].name != name) {
            --at;
        }
        return values_[at - 1].value;
    }

    template <class Call>
    std::uint64_t value(const Expression* node, const Call& call) {
        switch (node->kind) {
        case Expression::Kind::Number:
            return node->number;
        case Expression::Kind::Name:
            return find(node->name);
        case Expression::Kind::Binary: {
            const std::uint64_t left = value(node->left, call);
            return applied(node->op, left, value(node->right, call));
        }
        default: {
            const std::uint64_t left = value(node->left, call);
            return call(node->name, left, value(node->right, call));
        }
        }
    }

    /// Returns whether it executed a return.
    template <class Call>
    bool block(const Statement* at, const Call& call) {
        const std::size_t outside = count_;
        bool returned = false;
        for (; at != nullptr && !returned; at = at->next) {
            returned = one(at, call);
        }
        count_ = outside;
        return returned;
    }

    template <class Call>
    bool one(const Statement* at, const Call& call) {
        bool returned = false;
        switch (at->kind) {
        case Statement::Kind::Let: {
            const std::uint64_t fresh = value(at->expression, call);
            values_[count_++] = {at->name, fresh};
            break;
        }
        case Statement::Kind::Assign:
            find(at->name) = value(at->expression, call);
            break;
        case Statement::Kind::If:
            return block(value(at->expression, call) != 0 ? at->body : at->other, call);
        case Statement::Kind::Loop:
            for (std::uint64_t round = 0; round < at->rounds && !returned; ++round) {
                returned = block(at->body, call);
            }
            break;
        case Statement::Kind::Return:
            result_ = value(at->expression, call);
            returned = true;
        }
        return returned;
    }

    Binding values_[64] = {}; ///< more than a generated function can declare
    std::size_t count_ = 0;
    std::uint64_t result_ = 0;
};

} // namespace heapwright::workloads::compiler
