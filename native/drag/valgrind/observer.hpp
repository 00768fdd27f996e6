// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Follows valgrind's log of a program that contains the marks (drag/marks), and keeps the account
// of drag. It tracks the running thread, whether that is inside the allocator, its allocations and
// frees with their places, and its accesses.
//
// An access belongs to the program if its thread is not inside an allocation routine. A system call
// counts as an access to every object that contains one of its arguments, at its begin and at its
// end. Calls that change mappings do not. For system calls with lists of buffers, the marks report
// the buffers.
#pragma once

#include "drag/account/account.hpp"
#include "drag/account/modules.hpp"
#include "drag/account/sites.hpp"
#include "valgrind/lackey/log_line.hpp"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace heapwright::drag {

class Observer {
public:
    /// `process`: where to look up code that the program has mapped after its start; 0: nowhere.
    explicit Observer(pid_t process) : process_(process) {}

    void take(std::string_view line);
    /// The program has ended.
    void finish();

    const Account& account() const { return account_; }
    const Sites& sites() const { return sites_; }
    const Modules& modules() const { return modules_; }

    bool traced() const { return traced_; }     ///< there was at least one instruction
    bool marked() const { return marked_; }     ///< the marks were in the program
    bool replaced() const { return replaced_; } ///< exec replaced the program
    /// The file of the malloc that the marks precede; empty if there is none.
    const std::string& owner() const { return owner_; }
    /// The last of valgrind's own messages.
    const std::string& words() const { return words_; }
    std::uint64_t children() const { return children_; } ///< processes that it forked
    std::uint64_t threads() const { return begun_; }
    std::uint64_t misread() const { return misread_; }

private:
    struct Thread {
        /// The routine that the thread is in (messages.h); 0: none.
        unsigned call = 0;
        std::uint64_t object = 0;           ///< the routine's argument
        std::vector<std::uint64_t> chain;   ///< of the calls to the routine
        std::vector<std::uint64_t> buffers; ///< objects that its system call accesses
    };

    void other(std::string_view line);
    void schedule(std::string_view line);
    void systemCall(valgrind::Fields words, std::string_view line);
    void mark(valgrind::Fields words);
    void module(valgrind::Fields words);
    void call(valgrind::Fields words);
    void leave(Thread& thread, std::uint64_t object, std::uint64_t size);
    bool frame(std::string_view line);
    void findModule(std::uint64_t address);
    Thread& thread(std::uint64_t number);

    pid_t process_;
    Account account_;
    Sites sites_;
    Modules modules_;
    std::vector<Thread> threads_ = std::vector<Thread>(2); ///< by valgrind's numbers, from 1
    std::size_t running_ = 1;
    bool collecting_ = false;      ///< the next lines are a chain of calls
    std::uint64_t marksBegin_ = 0; ///< the marks' own code
    std::uint64_t marksEnd_ = 0;
    std::uint64_t children_ = 0;
    std::uint64_t begun_ = 0;
    std::uint64_t misread_ = 0;
    std::string owner_;
    std::string words_;
    bool traced_ = false;
    bool marked_ = false;
    bool replaced_ = false;
};

} // namespace heapwright::drag
