// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A compiler's work in any arena. A module has an arena with its names and its code, and each
// function has one inside it. The tree, the instructions and the tables of a pass each have one
// inside that, which ends with their phase. The result is that of running the functions.
#pragma once

#include "lower.hpp"
#include "machine.hpp"
#include "optimise.hpp"
#include "parse.hpp"

#include "../documents.hpp"

namespace heapwright::workloads::compiler {

template <class Uncounted>
class CompileLoad {
    using Arena = Counted<Uncounted>;

public:
    static constexpr std::size_t mostFunctions = 1024;

    /// Compiles a module and runs it. With `again`, also checks each function against the meaning
    /// of its tree. Returns false if they differ, or the text is invalid.
    bool compile(const TextPiece& source, bool again = false) {
        Arena module(objects_);
        Names<Arena> names(module);
        Parser<Arena> parser(source.begin, source.length, names);
        Array<Compiled, Arena> functions(module, mostFunctions);
        std::size_t count = 0;
        bool fine = true;
        while (fine && parser.more() && count < mostFunctions) {
            fine = one(module, parser, &functions[0], count, again);
            ++count;
        }
        if constexpr (!Arena::bulk) {
            for (std::size_t at = 0; at < count; ++at) {
                module.free(const_cast<Code*>(functions[at].code));
            }
            names.freeAll();
        }
        return fine;
    }

    [[nodiscard]] std::uint64_t objects() const { return objects_; }
    [[nodiscard]] std::uint64_t sum() const { return sum_; }

private:
    bool one(Arena& module, Parser<Arena>& parser, Compiled* functions, std::size_t count,
             bool again) {
        Arena function(module);
        Arena list(function);
        Register registers = 0;
        std::uint64_t labels = 0;
        std::uint64_t meant = 0;
        Instruction* first = nullptr;
        const Word* name = nullptr;
        {
            Arena trees(function);
            const Function tree = parser.function(trees);
            Lowering<Arena> lowering(list, functions, count);
            if (!parser.failed()) {
                first = lowering.lower(tree);
            }
            if (parser.failed() || lowering.failed()) {
                return false; // and the program ends
            }
            name = tree.name;
            registers = lowering.registers();
            labels = lowering.labels();
            meant = again ? meaning(tree, functions, count, function) : 0;
            if constexpr (!Arena::bulk) {
                freeTree(trees, tree.body);
            }
        }
        Arena tables(function);
        first = optimise(first, registers, labels, list, tables);
        functions[count] = placed(name, first, registers, labels, module, tables);
        freeList(list, first);
        Arena frames(function);
        const std::uint64_t given = run(functions, functions[count], count, sum_ % 16, frames);
        const bool fine = !again || given == meant;
        sum_ = (sum_ ^ given) * 0x100000001b3U;
        return fine;
    }

    std::uint64_t meaning(const Function& tree, const Compiled* functions, std::size_t count,
                          Arena& arena) {
        const auto call = [&](const Word* name, std::uint64_t first, std::uint64_t second) {
            std::size_t at = 0;
            while (functions[at].name != name) {
                ++at;
            }
            return run(functions, functions[at], first, second, arena);
        };
        return Meaning::of(tree, count, sum_ % 16, call);
    }

    static void freeList(Arena& arena, Instruction* first) {
        if constexpr (!Arena::bulk) {
            while (first != nullptr) {
                Instruction* const next = first->next;
                arena.free(first);
                first = next;
            }
        }
    }

    std::uint64_t objects_ = 0;
    std::uint64_t sum_ = 0xcbf29ce484222325U;
};

} // namespace heapwright::workloads::compiler
