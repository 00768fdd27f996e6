// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See lines.hpp. An object shares lines with others only at its two ends.
#include "lines.hpp"

namespace heapwright::workloads {

namespace {

/// Visits the first and the last unit of `span` bytes that a block touches.
template <class Visitor>
void eachEnd(std::uintptr_t address, std::size_t size, std::size_t span, Visitor visit) {
    const std::uintptr_t first = address / span;
    const std::uintptr_t last = (address + (size == 0 ? 0 : size - 1)) / span;
    visit(first);
    if (last != first) {
        visit(last);
    }
}

/// Addresses have 47 bits, so a stretch number has 34, which leaves 30 for the thread.
std::uint64_t ofThread(std::uintptr_t stretch, ThreadNumber thread) {
    return (static_cast<std::uint64_t>(stretch) << 30U) | (thread & 0x3fffffffU);
}

} // namespace

void Lines::born(std::uintptr_t address, std::size_t size, ThreadNumber thread) {
    ++found_.mallocs;
    bool atRisk = false;
    eachEnd(address, size, riskSpan, [&](std::uintptr_t stretch) {
        atRisk |= stretches_[stretch] > mine_[ofThread(stretch, thread)];
    });
    found_.atRisk += atRisk ? 1U : 0U;

    ThreadNumber& handed = handed_[address];
    const bool passive = handed == thread;
    std::uint64_t shared = 0;
    eachEnd(address, size, lineSize, [&](std::uintptr_t number) {
        Line& line = lines_[number];
        for (const ThreadNumber allocator : line.allocator) {
            if (allocator != 0 && allocator != thread) {
                ++shared;
                found_.lines += line.shared ? 0U : 1U;
                line.shared = true;
                break;
            }
        }
    });
    (passive ? found_.passive : found_.active) += shared;
    found_.objects += shared > 0 ? 1U : 0U;
    if (!passive) {
        handed = 0; // the block has another owner now
    }
    enter(address, size, thread);
}

ThreadNumber Lines::dies(std::uintptr_t address, std::size_t size, ThreadNumber allocator,
                         ThreadNumber thread) {
    leave(address, size, allocator);
    ThreadNumber& handed = handed_[address];
    const ThreadNumber before = handed;
    if (allocator != thread) {
        handed = thread;
    }
    return before;
}

void Lines::stays(std::uintptr_t address, std::size_t size, ThreadNumber allocator,
                  ThreadNumber handed) {
    handed_[address] = handed;
    enter(address, size, allocator);
}

void Lines::enter(std::uintptr_t address, std::size_t size, ThreadNumber allocator) {
    eachEnd(address, size, lineSize, [&](std::uintptr_t number) {
        for (ThreadNumber& place : lines_[number].allocator) {
            if (place == 0) {
                place = allocator;
                break;
            }
        }
    });
    eachEnd(address, size, riskSpan, [&](std::uintptr_t stretch) {
        ++stretches_[stretch];
        ++mine_[ofThread(stretch, allocator)];
    });
}

void Lines::leave(std::uintptr_t address, std::size_t size, ThreadNumber allocator) {
    eachEnd(address, size, lineSize, [&](std::uintptr_t number) {
        for (ThreadNumber& place : lines_[number].allocator) {
            if (place == allocator) {
                place = 0;
                break;
            }
        }
    });
    eachEnd(address, size, riskSpan, [&](std::uintptr_t stretch) {
        --stretches_[stretch];
        --mine_[ofThread(stretch, allocator)];
    });
}

} // namespace heapwright::workloads
