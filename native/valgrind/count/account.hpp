// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Follows the trace and keeps the account: which thread runs, whether it is inside the allocator,
// which objects are the program's, and what the instructions inside the allocator are and write.
//
// Inside the allocator is what lies between a thread's entering and leaving an allocation routine,
// without the marks' own instructions: the C library's mutex and memset on the way belong to it.
//
// The allocator's memory is what it writes there, except
//   - objects that the program has: an object is the program's from when the routine that hands it
//     out is left until the routine that takes it back is entered;
//   - the zeros of calloc and the bytes that realloc copies, known when the routine is left: until
//     then its writes wait;
//   - the calling thread's own stack below the call;
//   - what the dynamic linker writes when it binds a symbol at its first use.
// A link that the allocator writes into a freed object is therefore its own.
#pragma once

#include "code.hpp"
#include "lines.hpp"

#include "valgrind/lackey/log_line.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace heapwright::valgrind {

struct Counted {
    std::uint64_t calls = 0;        ///< that hand out or take back
    std::uint64_t idle = 0;         ///< calls that do not: malloc_usable_size, free of null
    std::uint64_t threads = 0;      ///< that made any
    std::uint64_t instructions = 0; ///< inside the allocator
    std::uint64_t prefixed = 0;     ///< of those, with a lock prefix
    std::uint64_t exchanges = 0;    ///< of those, xchg with memory
    std::uint64_t unknown = 0;      ///< of those, whose bytes could not be read
    std::uint64_t misread = 0;      ///< lines of the trace that made no sense
};

class Account {
public:
    explicit Account(pid_t process) : code_(process) {}

    void take(std::string_view line);

    const Counted& counted() const { return counted_; }
    Lines::Total lines() const { return lines_.total(); }
    const std::string& provider() const { return provider_; }
    bool marked() const { return marked_; }
    /// What valgrind itself said, the last of it.
    const std::string& words() const { return words_; }
    bool traced() const { return traced_; }

private:
    struct Write {
        std::uint64_t address;
        std::uint64_t size;
    };

    struct Thread {
        std::uint32_t number = 0;
        bool counted = false;
        unsigned call = 0; ///< the routine that it is in (messages.h); 0: none
        Code::Origin origin = Code::Origin::unknown; ///< of the instruction that it executes
        std::uint64_t stackPointer = 0;
        std::uint64_t stackLow = ~std::uint64_t{0}; ///< until it is known, there is none
        std::uint64_t given = 0; ///< the object that realloc was given, and its size
        std::uint64_t givenSize = 0;
        std::vector<Write> waiting;
    };

    void instruction(std::uint64_t address);
    void write(Write write);
    void settle(std::uint64_t object, std::uint64_t size);
    bool isLive(std::uint64_t address) const;

    void other(std::string_view line);
    void schedule(std::string_view line);
    void systemCall(std::string_view line);
    void mark(Fields words);
    void call(Fields words);
    void enter(unsigned kind, std::uint64_t stackPointer, std::uint64_t object);
    void leave(std::uint64_t object, std::uint64_t size);

    Code code_;
    Lines lines_;
    Counted counted_;
    std::map<std::uint64_t, std::uint64_t> live_; ///< objects of the program: address, size
    std::vector<Thread> threads_ = std::vector<Thread>(2); ///< by valgrind's numbers, from 1
    std::size_t running_ = 1;
    std::uint32_t begun_ = 0;
    std::string provider_;
    std::string words_;
    bool marked_ = false;
    bool traced_ = false;
};

} // namespace heapwright::valgrind
