// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The account of one trace; account.hpp states the rules.
#include "account.hpp"

#include "valgrind/marks/messages.h"

namespace heapwright::valgrind {

namespace {

constexpr std::size_t wordsKept = 4096;
constexpr std::size_t mostThreads = 1 << 20;

bool within(std::uint64_t address, std::uint64_t begin, std::uint64_t size) {
    return address - begin < size;
}

} // namespace

void Account::take(std::string_view text) {
    const LogLine line = readLine(text);
    const bool inside = threads_[running_].call != heapwright_leave;
    switch (line.kind) {
    case Line::instruction:
        traced_ = true;
        if (inside) {
            instruction(line.address);
        }
        break;
    case Line::write:
        if (inside) {
            write({line.address, line.size});
        }
        break;
    case Line::load:
        break;
    case Line::other:
        other(text);
        break;
    case Line::misread:
        ++counted_.misread;
        break;
    }
}

void Account::instruction(std::uint64_t address) {
    const Code::Instruction found = code_.at(address);
    threads_[running_].origin = found.origin;
    if (found.origin == Code::Origin::marks) {
        return;
    }
    ++counted_.instructions;
    counted_.prefixed += found.locking == Locking::prefix ? 1 : 0;
    counted_.exchanges += found.locking == Locking::exchange ? 1 : 0;
    counted_.unknown += found.origin == Code::Origin::unknown ? 1 : 0;
}

void Account::write(Write write) {
    Thread& thread = threads_[running_];
    const bool ownStack = write.address >= thread.stackLow && write.address < thread.stackPointer;
    const bool others =
        thread.origin == Code::Origin::marks || thread.origin == Code::Origin::loader;
    if (others || ownStack || write.size == 0 || isLive(write.address)) {
        return;
    }
    if (thread.call == heapwright_zero || thread.call == heapwright_resize) {
        thread.waiting.push_back(write);
    } else {
        lines_.write(write.address, write.size, thread.number);
    }
}

/// The pending writes of the running thread become the allocator's, except those into the object.
void Account::settle(std::uint64_t object, std::uint64_t size) {
    Thread& thread = threads_[running_];
    for (const Write& write : thread.waiting) {
        if (!within(write.address, object, size)) {
            lines_.write(write.address, write.size, thread.number);
        }
    }
    thread.waiting.clear();
}

bool Account::isLive(std::uint64_t address) const {
    const auto after = live_.upper_bound(address);
    if (after == live_.begin()) {
        return false;
    }
    const auto& [begin, size] = *std::prev(after);
    return within(address, begin, size);
}

void Account::other(std::string_view line) {
    Fields words(line);
    if (words.skip("**") && words.find("** hw ")) {
        mark(words);
    } else if (line.find("SCHED[") != std::string_view::npos) {
        schedule(line);
    } else if (words.skip("SYSCALL[")) {
        systemCall(line);
    } else if (words.skip("==")) {
        words_.append(line).push_back('\n');
        if (words_.size() > 2 * wordsKept) {
            words_.erase(0, words_.size() - wordsKept);
        }
    }
}

/// A thread runs from when it gets valgrind's only lock until another thread gets it. The line may
/// follow the unfinished line of a system call.
void Account::schedule(std::string_view line) {
    Fields words(line);
    words.find("SCHED[");
    const std::uint64_t number = words.decimal();
    if (!words.skip("]:  acquired lock") || !words.good() || number >= mostThreads) {
        return;
    }
    if (number >= threads_.size()) {
        threads_.resize(number + 1);
    }
    if (words.skip(" (thread_wrapper")) {
        threads_[number] = Thread{};
        threads_[number].number = ++begun_;
    }
    running_ = number;
}

/// Newly mapped memory, or memory whose pages were discarded, starts a new history.
void Account::systemCall(std::string_view line) {
    constexpr std::uint64_t dontNeed = 4;
    constexpr std::uint64_t mayFree = 8;
    Fields words(line);
    if (words.find(" sys_mmap ( ")) {
        words.constant();
        words.skip(",");
        const std::uint64_t size = words.decimal();
        if (words.good() && words.find("Success(")) {
            const std::uint64_t begin = words.constant();
            lines_.forget(begin, begin + size);
        }
    } else if (words.find(" sys_madvise ( ")) {
        const std::uint64_t begin = words.constant();
        words.skip(",");
        const std::uint64_t size = words.decimal();
        words.skip(",");
        const std::uint64_t advice = words.decimal();
        if (words.good() && (advice == dontNeed || advice == mayFree)) {
            lines_.forget(begin, begin + size);
        }
    }
}

void Account::mark(Fields words) {
    if (words.skip("call ")) {
        call(words);
    } else if (words.skip("stack ")) {
        const std::uint64_t low = words.hexadecimal();
        const std::uint64_t high = words.hexadecimal();
        threads_[running_].stackLow = low;
        lines_.forget(low, high);
    } else if (words.skip("code ")) {
        const std::uint64_t start = words.hexadecimal();
        const std::uint64_t end = words.hexadecimal();
        const std::uint64_t offset = words.hexadecimal();
        words.skip(" ");
        code_.add(start, end, offset, words.rest());
    } else if (words.skip("marks ")) {
        marked_ = true;
        code_.setMarks(words.hexadecimal());
    } else if (words.skip("provider ")) {
        provider_ = words.rest();
    }
}

void Account::call(Fields words) {
    const std::uint64_t kind = words.hexadecimal();
    const std::uint64_t first = words.hexadecimal();
    const std::uint64_t second = words.hexadecimal();
    if (!words.good() || kind > heapwright_ask) {
        ++counted_.misread;
    } else if (kind == heapwright_leave) {
        leave(first, second);
    } else {
        enter(static_cast<unsigned>(kind), first, second);
    }
}

void Account::enter(unsigned kind, std::uint64_t stackPointer, std::uint64_t object) {
    Thread& thread = threads_[running_];
    settle(0, 0); // a call that ended by a long jump
    thread.call = kind;
    thread.origin = Code::Origin::marks;
    thread.stackPointer = stackPointer;
    thread.given = 0;
    counted_.threads += thread.counted ? 0 : 1;
    thread.counted = true;
    const bool idle = kind == heapwright_ask || (kind == heapwright_release && object == 0);
    ++(idle ? counted_.idle : counted_.calls);
    if (const auto found = live_.find(object); object != 0 && found != live_.end()) {
        thread.given = object;
        thread.givenSize = found->second;
        live_.erase(found);
    }
}

void Account::leave(std::uint64_t object, std::uint64_t size) {
    Thread& thread = threads_[running_];
    settle(object, object != 0 ? size : 0);
    if (thread.call == heapwright_resize && object == 0 && size != 0 && thread.given != 0) {
        live_[thread.given] = thread.givenSize; // it was not resized and is unchanged
    } else if (object != 0) {
        live_[object] = size;
    }
    thread.call = heapwright_leave;
}

} // namespace heapwright::valgrind
