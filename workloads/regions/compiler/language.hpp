// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The data between the phases of the compiler: the tree of a function, its list of instructions,
// and its code. Numbers have 64 bits and wrap around. A division by 0 is 0.
#pragma once

#include "../names.hpp"

#include <cstdint>

namespace heapwright::workloads::compiler {

/// An arena that counts its requests and those of all arenas inside it.
template <class Arena>
class Counted : public Arena {
public:
    explicit Counted(std::uint64_t& count) : count_(count) {}
    explicit Counted(Counted& parent) : Arena(parent), count_(parent.count_) {}

    void* malloc(std::size_t size) {
        ++count_;
        return Arena::malloc(size);
    }

private:
    std::uint64_t& count_;
};

/// `count` zeroed Ts, for its own life or that of the arena.
template <class T, class Arena>
class Array {
public:
    Array(Arena& arena, std::size_t count)
        : arena_(arena), items_(static_cast<T*>(arena.malloc((count + 1) * sizeof(T)))) {
        std::memset(static_cast<void*>(items_), 0, (count + 1) * sizeof(T));
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() { arena_.free(items_); }

    T& operator[](std::size_t at) { return items_[at]; }

private:
    Arena& arena_;
    T* items_;
};

enum class Op : std::uint8_t {
    Add,
    Subtract,
    Multiply,
    Divide,
    Less,
    Equal, // the operators end here
    Constant,
    Move,
    Call,
    Label,
    Jump,
    JumpIfZero,
    Return,
};

inline bool isOperator(Op op) {
    return op <= Op::Equal;
}

inline std::uint64_t applied(Op op, std::uint64_t left, std::uint64_t right) {
    switch (op) {
    case Op::Add:
        return left + right;
    case Op::Subtract:
        return left - right;
    case Op::Multiply:
        return left * right;
    case Op::Divide:
        return right == 0 ? 0 : left / right;
    case Op::Less:
        return left < right ? 1 : 0;
    default:
        return left == right ? 1 : 0;
    }
}

struct Expression {
    enum class Kind : std::uint8_t { Number, Name, Binary, Call } kind;
    Op op;
    const Word* name; ///< of a variable, or of the called function
    std::uint64_t number;
    Expression* left;
    Expression* right;
};

struct Statement {
    enum class Kind : std::uint8_t { Let, Assign, If, Loop, Return } kind;
    const Word* name;
    std::uint64_t rounds;
    Expression* expression;
    Statement* body;
    Statement* other;
    Statement* next;
};

struct Function {
    const Word* name;
    const Word* parameters[2];
    Statement* body;
};

using Register = std::uint32_t;

struct Instruction {
    Instruction* next;
    Op op;
    Register to;
    Register left;
    Register right;
    std::uint64_t number; ///< a constant, a label, or the index of the called function
};

/// The placed code: labels are indices.
struct Code {
    Op op;
    Register to;
    Register left;
    Register right;
    std::uint64_t number;
};

struct Compiled {
    const Word* name;
    const Code* code;
    std::size_t length;
    Register registers;
};

inline bool hasResult(Op op) {
    return isOperator(op) || op == Op::Constant || op == Op::Move || op == Op::Call;
}
inline bool usesLeft(Op op) {
    return isOperator(op) || op == Op::Move || op == Op::Call || op == Op::JumpIfZero ||
           op == Op::Return;
}
inline bool usesRight(Op op) {
    return isOperator(op) || op == Op::Call;
}

} // namespace heapwright::workloads::compiler
