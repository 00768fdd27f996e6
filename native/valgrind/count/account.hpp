// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Follows the trace and keeps the account. It has the running thread, whether it is inside the
// allocator, the objects of the program, and the instructions and writes inside the allocator.
//
// A thread is inside the allocator from when it enters an allocation routine until it leaves it,
// without the instructions of the marks. The C library's mutex and memset in between count.
//
// The allocator's memory is what it writes there, except
//   - objects of the program: an object is the program's from the end of the routine that allocates
//     it until the start of the routine that frees it;
//   - the zeros of calloc and the bytes that realloc copies. They are known only at the end of the
//     routine, so its writes are held until then;
//   - the calling thread's own stack below the call;
//   - what the dynamic linker writes when it binds a symbol at its first use. A link that the
//     allocator writes into a freed object is therefore its own.
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
    std::uint64_t calls = 0;        ///< calls that allocate or free
    std::uint64_t idle = 0;         ///< calls that do neither: malloc_usable_size, free of null
    std::uint64_t threads = 0;      ///< threads with calls
    std::uint64_t instructions = 0; ///< instructions inside the allocator
    std::uint64_t prefixed = 0;     ///< those with a lock prefix
    std::uint64_t exchanges = 0;    ///< those that are xchg with memory
    std::uint64_t unknown = 0;      ///< those whose bytes could not be read
    std::uint64_t misread = 0;      ///< lines of the trace that could not be parsed
};

class Account {
public:
    explicit Account(pid_t process) : code_(process) {}

    void take(std::string_view line);

    const Counted& counted() const { return counted_; }
    Lines::Total lines() const { return lines_.total(); }
    const std::string& provider() const { return provider_; }
    bool marked() const { return marked_; }
    /// The last of valgrind's own messages.
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
        unsigned call = 0; ///< the routine that the thread is in (messages.h); 0: none
        Code::Origin origin = Code::Origin::unknown; ///< of the current instruction
        std::uint64_t stackPointer = 0;
        std::uint64_t stackLow = ~std::uint64_t{0}; ///< no stack until it is known
        std::uint64_t given = 0;                    ///< the argument of realloc, and its size
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
