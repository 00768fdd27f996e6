// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Follows valgrind's log of a program with the marks in it (drag/marks), and keeps the account of
// drag: which thread runs, whether it is inside the allocator, what it allocates and frees and from
// where, and what it reads and writes.
//
// An access is the program's if its thread is not inside an allocation routine. A system call is an
// access to every object that an address among its arguments lies in, when it begins and when it
// ends; not so the calls that change mappings. Of system calls that are given lists of buffers, the
// marks say the buffers.
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
    /// `process`: where to look for code that the program has opened since it began; 0 for nowhere.
    explicit Observer(pid_t process) : process_(process) {}

    void take(std::string_view line);
    /// The program is over.
    void finish();

    const Account& account() const { return account_; }
    const Sites& sites() const { return sites_; }
    const Modules& modules() const { return modules_; }

    bool traced() const { return traced_; }     ///< there was at least one instruction
    bool marked() const { return marked_; }     ///< the marks were in the program
    bool replaced() const { return replaced_; } ///< the program became another one, by exec
    /// The file whose malloc stands before the marks; empty if there is none.
    const std::string& owner() const { return owner_; }
    /// What valgrind itself said, the last of it.
    const std::string& words() const { return words_; }
    std::uint64_t children() const { return children_; } ///< processes that it made
    std::uint64_t threads() const { return begun_; }
    std::uint64_t misread() const { return misread_; }

private:
    struct Thread {
        unsigned call = 0;                  ///< the routine that it is in (messages.h); 0: none
        std::uint64_t object = 0;           ///< that the routine was given
        std::vector<std::uint64_t> chain;   ///< of calls that led to the routine
        std::vector<std::uint64_t> buffers; ///< objects that its system call was given
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
    bool collecting_ = false;      ///< lines of a chain of calls are to come
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
