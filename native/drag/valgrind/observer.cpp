// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Translates the lines of the log for the account; observer.hpp states the rules.
#include "drag/valgrind/observer.hpp"

#include "drag/valgrind/mappings.hpp"
#include "valgrind/marks/messages.h"

#include <array>

namespace heapwright::drag {

using valgrind::Fields;
using valgrind::Line;

namespace {

constexpr std::size_t wordsKept = 4096;
constexpr std::size_t mostThreads = 1 << 20;

/// System calls that get addresses but neither read nor write there.
bool changesMappings(std::string_view name) {
    constexpr std::array<std::string_view, 8> names = {"sys_mmap",   "sys_munmap",  "sys_mprotect",
                                                       "sys_mremap", "sys_madvise", "sys_brk",
                                                       "sys_mlock",  "sys_munlock"};
    for (const std::string_view each : names) {
        if (name == each) {
            return true;
        }
    }
    return false;
}

} // namespace

void Observer::take(std::string_view text) {
    if (text.size() > 2 && text[0] == 'I' && text[1] == ' ') {
        traced_ = true;
        return;
    }
    const valgrind::LogLine line = valgrind::readLine(text);
    switch (line.kind) {
    case Line::load:
    case Line::write:
        if (threads_[running_].call == heapwright_leave) {
            account_.access(line.address, line.size);
        }
        break;
    case Line::other:
        other(text);
        break;
    case Line::misread:
        ++misread_;
        break;
    case Line::instruction:
        break;
    }
}

void Observer::finish() {
    account_.finish();
}

Observer::Thread& Observer::thread(std::uint64_t number) {
    if (number >= mostThreads) {
        ++misread_;
        number = 0;
    }
    if (number >= threads_.size()) {
        threads_.resize(number + 1);
    }
    return threads_[number];
}

void Observer::other(std::string_view line) {
    Fields words(line);
    if (collecting_ && frame(line)) {
        return;
    }
    collecting_ = false;
    if (words.skip("**") && words.find("** hw ")) {
        mark(words);
    } else if (words.skip("SYSCALL[")) {
        systemCall(words, line);
        schedule(line);
    } else if (words.skip("--")) {
        schedule(line);
    } else if (words.skip("==")) {
        words_.append(line).push_back('\n');
        if (words_.size() > 2 * wordsKept) {
            words_.erase(0, words_.size() - wordsKept);
        }
    }
}

/// A thread runs from when it gets valgrind's only lock until another thread gets it. The line may
/// follow the unfinished line of a system call.
void Observer::schedule(std::string_view line) {
    Fields words(line);
    if (!words.find("SCHED[")) {
        return;
    }
    const std::uint64_t number = words.decimal();
    if (!words.skip("]:  acquired lock") || !words.good()) {
        return;
    }
    Thread& next = thread(number);
    if (words.skip(" (thread_wrapper")) {
        next = Thread{};
        ++begun_;
    }
    running_ = static_cast<std::size_t>(&next - threads_.data());
}

/// After `SYSCALL[`: either `PID,THREAD](NUMBER) NAME ( ARGUMENTS ) …`, where addresses begin with
/// 0x, or `PID,THREAD](NUMBER) ... [async] --> …`, the end of a call that waited.
void Observer::systemCall(Fields words, std::string_view line) {
    words.decimal();
    words.skip(",");
    Thread& caller = thread(words.decimal());
    if (!words.good() || !words.find(") ")) {
        ++misread_;
        return;
    }
    if (line.find("created child") != std::string_view::npos) {
        ++children_;
    }
    if (words.skip("... ")) {
        for (const std::uint64_t buffer : caller.buffers) {
            account_.access(buffer, 1);
        }
        return;
    }
    caller.buffers.clear();
    const std::string_view rest = words.rest();
    const std::string_view name = rest.substr(0, rest.find(' '));
    replaced_ = name == "sys_execve" && line.find("Failure") == std::string_view::npos;
    if (caller.call != heapwright_leave || changesMappings(name)) {
        return;
    }
    Fields arguments(rest.substr(0, rest.find("-->")));
    while (arguments.find("0x")) {
        const std::uint64_t address = arguments.hexadecimal();
        if (account_.find(address) != 0) {
            account_.access(address, 1);
            caller.buffers.push_back(address);
        }
    }
}

void Observer::mark(Fields words) {
    if (words.skip("call ")) {
        call(words);
    } else if (words.skip("touch ")) {
        account_.access(words.hexadecimal(), 1);
    } else if (words.skip("module ")) {
        module(words);
    } else if (words.skip("marks ")) {
        marked_ = true;
        const std::uint64_t address = words.hexadecimal();
        modules_.rangeOf(address, marksBegin_, marksEnd_);
    } else if (words.skip("own ")) {
        owner_ = words.rest();
    }
}

void Observer::module(Fields words) {
    const std::uint64_t begin = words.hexadecimal();
    const std::uint64_t end = words.hexadecimal();
    const std::uint64_t bias = words.hexadecimal();
    words.skip(" ");
    if (words.good()) {
        modules_.add(begin, end, bias, words.rest());
    } else {
        ++misread_;
    }
}

void Observer::call(Fields words) {
    const std::uint64_t kind = words.hexadecimal();
    const std::uint64_t first = words.hexadecimal();
    const std::uint64_t second = words.hexadecimal();
    Thread& caller = threads_[running_];
    if (!words.good() || kind > heapwright_ask) {
        ++misread_;
    } else if (kind == heapwright_leave) {
        leave(caller, first, second);
    } else {
        caller.call = static_cast<unsigned>(kind);
        caller.object = second;
        caller.chain.clear();
        collecting_ = kind != heapwright_release && kind != heapwright_ask;
        if (kind == heapwright_release) {
            account_.free(second);
        }
    }
}

void Observer::leave(Thread& caller, std::uint64_t object, std::uint64_t size) {
    const std::uint64_t given = caller.call == heapwright_resize ? caller.object : 0;
    const bool allocates = caller.call != heapwright_release && caller.call != heapwright_ask;
    caller.call = heapwright_leave;
    collecting_ = false;
    if (!allocates) {
        return;
    }
    if (object != 0) {
        account_.reallocate(given, object, size, sites_.intern(caller.chain));
    } else if (given != 0 && size == 0) {
        account_.free(given);
    }
}

/// `==PID==    at 0xADDRESS: …` or `by`: one call of a chain, without those of the marks.
bool Observer::frame(std::string_view line) {
    Fields words(line);
    if (!words.skip("==")) {
        return false;
    }
    words.decimal();
    if (!words.skip("==    at 0x") && !words.skip("==    by 0x")) {
        return false;
    }
    const std::uint64_t address = words.hexadecimal();
    std::vector<std::uint64_t>& chain = threads_[running_].chain;
    if (address - marksBegin_ >= marksEnd_ - marksBegin_) {
        if (modules_.placeOf(address).module == Modules::none) {
            findModule(address);
        }
        // Valgrind reports the call; chains contain the return address.
        chain.push_back(address + 1);
    }
    return true;
}

void Observer::findModule(std::uint64_t address) {
    if (process_ == 0 || !addMappingOf(process_, address, modules_)) {
        modules_.add(address, address + 1, 0, ""); // so that it is not looked up again
    }
}

} // namespace heapwright::drag
