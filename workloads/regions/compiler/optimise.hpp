// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The third phase: computes known values and removes unused instructions. The tables of a pass have
// an arena of their own. A removed instruction is freed at once if the arena supports that.
#pragma once

#include "language.hpp"

namespace heapwright::workloads::compiler {

/// Computes known values between two labels. Returns how many.
template <class Arena>
std::uint64_t fold(Instruction* first, Register registers, Arena& tables) {
    Array<bool, Arena> known(tables, registers);
    Array<std::uint64_t, Arena> values(tables, registers);
    std::uint64_t folded = 0;
    for (Instruction* at = first; at != nullptr; at = at->next) {
        if (at->op == Op::Label) {
            std::memset(&known[0], 0, registers * sizeof(bool));
            continue;
        }
        const bool whole = isOperator(at->op) && known[at->left] && known[at->right];
        if (whole || (at->op == Op::Move && known[at->left])) {
            at->number =
                whole ? applied(at->op, values[at->left], values[at->right]) : values[at->left];
            at->op = Op::Constant;
            ++folded;
        }
        if (at->op == Op::JumpIfZero && known[at->left] && values[at->left] == 0) {
            at->op = Op::Jump;
            ++folded;
        }
        if (hasResult(at->op)) {
            known[at->to] = at->op == Op::Constant;
            values[at->to] = at->number;
        }
    }
    return folded;
}

/// The registers used at the start of each basic block.
template <class Arena>
class Liveness {
public:
    Liveness(Instruction* first, std::size_t count, Register registers, std::uint64_t labels,
             Arena& tables)
        : words_(registers / 64 + 1), order_(tables, count), blocks_(tables, count),
          blockOf_(tables, labels), live_(tables, words_), before_(tables, count * words_) {
        divide(first);
        while (spread()) {
        }
    }

    /// Removes instructions whose result is unused. Returns the new first instruction.
    template <class Code>
    Instruction* sweep(Code& code, std::uint64_t& swept) {
        Instruction* first = nullptr;
        for (std::size_t block = blockCount_; block-- != 0;) {
            load(block);
            for (std::size_t at = blocks_[block].end; at-- != blocks_[block].begin;) {
                Instruction* const each = order_[at];
                if (hasResult(each->op) && !has(each->to)) {
                    code.free(each);
                    ++swept;
                } else {
                    step(each);
                    each->next = first;
                    first = each;
                }
            }
        }
        return first;
    }

private:
    struct Block {
        std::size_t begin;
        std::size_t end;
    };

    void divide(Instruction* first) {
        std::size_t count = 0;
        bool fresh = true;
        for (Instruction* at = first; at != nullptr; at = at->next) {
            if (fresh || at->op == Op::Label) {
                blocks_[blockCount_++] = {count, count};
            }
            fresh = at->op == Op::Jump || at->op == Op::JumpIfZero || at->op == Op::Return;
            if (at->op == Op::Label) {
                blockOf_[at->number] = blockCount_ - 1;
            }
            order_[count++] = at;
            blocks_[blockCount_ - 1].end = count;
        }
    }

    [[nodiscard]] bool has(Register number) { return (live_[number / 64] >> number % 64 & 1) != 0; }
    void add(Register number) { live_[number / 64] |= std::uint64_t{1} << number % 64; }
    void remove(Register number) { live_[number / 64] &= ~(std::uint64_t{1} << number % 64); }

    /// Updates the set over one instruction, backwards.
    void step(const Instruction* each) {
        if (hasResult(each->op)) {
            remove(each->to);
        }
        if (usesLeft(each->op)) {
            add(each->left);
        }
        if (usesRight(each->op)) {
            add(each->right);
        }
    }

    /// The registers used after a block: those used at the start of its successors.
    void load(std::size_t block) {
        const Instruction* const last = order_[blocks_[block].end - 1];
        std::memset(&live_[0], 0, words_ * sizeof(std::uint64_t));
        if (last->op == Op::Jump || last->op == Op::JumpIfZero) {
            join(blockOf_[last->number]);
        }
        if (block + 1 < blockCount_ && last->op != Op::Jump && last->op != Op::Return) {
            join(block + 1);
        }
    }

    void join(std::size_t block) {
        for (std::size_t word = 0; word < words_; ++word) {
            live_[word] |= before_[block * words_ + word];
        }
    }

    /// Updates the registers used at the start of each block. Returns whether any set changed.
    bool spread() {
        bool news = false;
        for (std::size_t block = blockCount_; block-- != 0;) {
            load(block);
            for (std::size_t at = blocks_[block].end; at-- != blocks_[block].begin;) {
                step(order_[at]);
            }
            for (std::size_t word = 0; word < words_; ++word) {
                std::uint64_t& there = before_[block * words_ + word];
                news = news || live_[word] != there;
                there = live_[word];
            }
        }
        return news;
    }

    std::size_t words_; ///< of a set of registers
    std::size_t blockCount_ = 0;
    Array<Instruction*, Arena> order_;
    Array<Block, Arena> blocks_;
    Array<std::size_t, Arena> blockOf_; ///< by label
    Array<std::uint64_t, Arena> live_;
    Array<std::uint64_t, Arena> before_; ///< a set for each block
};

/// Repeats both until nothing changes. Returns the first instruction.
template <class Arena>
Instruction* optimise(Instruction* first, Register registers, std::uint64_t labels, Arena& code,
                      Arena& tables) {
    for (std::uint64_t changes = 1; changes != 0;) {
        std::size_t count = 0;
        for (const Instruction* at = first; at != nullptr; at = at->next) {
            ++count;
        }
        changes = fold(first, registers, tables);
        {
            Liveness<Arena> liveness(first, count, registers, labels, tables);
            first = liveness.sweep(code, changes);
        }
        tables.clear();
    }
    return first;
}

} // namespace heapwright::workloads::compiler
