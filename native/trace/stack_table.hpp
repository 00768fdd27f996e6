// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The chains of calls of a trace, and the objects that their addresses lie in. A chain is a path of
// nodes from the inside out. Each node has a place: An object, and an address in that object's
// file, which a debugger or a symbol table can name. Objects are one over the whole trace where
// path and build are the same.
//
// What the file says is not believed: a node leads outward only to a smaller number, so that every
// path ends. Memory is a few words for each block; nodes are read where they stand.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "trace/reader.hpp"
#include "trace/source_lines.hpp"
#include "trace/stacks.hpp"

namespace heapwright::trace {

class StackTable {
public:
    explicit StackTable(const Trace& trace);

    /// An object as its file is known.
    struct Object {
        std::string path;
        std::string buildId;  ///< in hexadecimal; empty where there is none
        std::string function; ///< of an interpreter, whose source file is `path`; else empty
    };
    const std::vector<Object>& objects() const { return objects_; }

    static constexpr std::uint32_t noObject = 0xFFFF'FFFF;

    struct Place {
        std::uint32_t object = noObject;
        /// Of the call, in the object's file. Without an object in memory. The line in the source
        /// file if the object is a function of an interpreter; 0 if that is not known.
        std::uint64_t address = 0;
    };

    /// One call of a chain.
    struct Call {
        std::uint32_t parent = 0; ///< the node of the call around it; 0 = there is none
        Place place;
        bool cut = false; ///< no call: further calls were left out here
    };

    /// The call of a node of a process; false where there is no such node.
    bool find(std::uint32_t process, std::uint32_t node, Call& call) const;

    /// The addresses of the process's own calls that are in no object, ascending.
    std::vector<std::uint64_t> strays(std::uint32_t process) const;

    /// The first node of the process whose chain of calls has the same places. A library that a
    /// program loads several times has other addresses, and so other nodes, each time.
    std::uint32_t firstAlike(std::uint32_t process, std::uint32_t node) const;

private:
    struct Node {
        std::uint32_t number;
        std::uint32_t parent;
        std::uint32_t addressLow;
        std::uint32_t addressHigh;
        std::uint32_t block; ///< of `times`
    };
    struct Module {
        std::uint64_t begin;
        std::uint64_t end;
        std::uint64_t bias;
        std::uint64_t seen;
        std::uint64_t unloaded; ///< ticks like `seen`; 0 = it stayed
        std::uint32_t object;
    };
    struct Code {
        std::uint64_t begin;
        std::uint64_t end;
        std::uint32_t object;
        SourceLines lines; ///< empty for compiled code
    };
    struct Process {
        std::vector<Node> nodes;          ///< by number
        std::vector<std::uint64_t> times; ///< ns: when each block of nodes was begun
        std::vector<Module> modules;
        std::vector<Code> codes; ///< by number, or by address for compiled code
        std::unordered_map<std::uint32_t, std::uint32_t> alike; ///< without those that are first
        std::uint32_t inherits = noProcess; ///< whose nodes and objects it was forked with
    };

    void takeNodes(const Record& record);
    void takeModule(const Trace& trace, const Record& record);
    void takeCode(const Record& record);
    void takeCompiled(const Record& record);
    std::uint32_t objectNumber(Object object);
    bool loadsAgain(std::uint32_t process) const;
    void findAlike(std::uint32_t process);
    std::vector<std::uint32_t> nodesOf(std::uint32_t process) const;
    const Process* holderOf(std::uint32_t process, std::uint32_t node) const;
    Place codePlace(std::uint32_t process, std::uint64_t address) const;
    Place placeOf(std::uint32_t process, std::uint64_t address, std::uint64_t time) const;

    std::vector<Process> processes_;
    std::vector<Object> objects_;
    std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> numbers_;
};

} // namespace heapwright::trace
