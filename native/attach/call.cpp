// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

#include <algorithm>
#include <cerrno>
#include <cpuid.h>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

namespace heapwright::attach {

namespace {

constexpr std::size_t redZone = 128;
constexpr std::size_t sizesAt = 464; ///< of the words for software, in the state of the processor
constexpr std::size_t usedAt = 512;  ///< of the parts that are in use
constexpr std::uint32_t leastState = 576;
constexpr std::uint64_t tiles = std::uint64_t{3} << 17U;
constexpr std::uint32_t magicBegin = 0x46505853;
constexpr std::uint32_t magicEnd = 0x46505845;
constexpr std::uint64_t hasExtendedState = 1;
constexpr std::uint64_t hasStackSegment = 2;
constexpr std::uint64_t restoresStackSegment = 4;
constexpr int keepsAlternateStack = 0x7FFF; ///< no valid flags: the kernel leaves it as it is
constexpr std::uint64_t directionAndTrap = 0x500;
constexpr int restartBlock = 516;

constexpr std::uint64_t bit(int signal) {
    return std::uint64_t{1} << (signal - 1);
}
/// A blocked one of these would end the process.
constexpr std::uint64_t faults =
    bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP) | bit(SIGSYS);

/// What the function's return address points behind, as the kernel lays it out.
struct Frame {
    std::uint64_t returnAddress;
    std::uint64_t flags;
    std::uint64_t link;
    stack_t stack;
    std::uint64_t words[23];
    std::uint64_t state; ///< address of the processor's state
    std::uint64_t reserved[8];
    std::uint64_t mask;
};
static_assert(offsetof(Frame, words) - 8 == offsetof(ucontext_t, uc_mcontext));
static_assert(offsetof(Frame, mask) - 8 == offsetof(ucontext_t, uc_sigmask));

/// The registers after the kernel has cared for an interrupted system call. A call that waits for a
/// time cannot be continued after a handler, and returns EINTR as it does after any handler.
Registers afterInterruption(Registers registers) {
    if (static_cast<std::int64_t>(registers.orig_rax) < 0) {
        return registers;
    }
    switch (-static_cast<std::int64_t>(registers.rax)) {
    case 512: // ERESTARTSYS
    case 513: // ERESTARTNOINTR
    case 514: // ERESTARTNOHAND
        registers.rax = registers.orig_rax;
        registers.rip -= 2;
        break;
    case restartBlock:
        registers.rax = static_cast<std::uint64_t>(-EINTR);
        break;
    default:
        break;
    }
    registers.orig_rax = ~std::uint64_t{0};
    return registers;
}

Frame frameOf(const Registers& registers, std::uint64_t mask, Address state, Address signalReturn) {
    const Registers back = afterInterruption(registers);
    Frame frame = {};
    frame.returnAddress = signalReturn;
    frame.flags = hasExtendedState | hasStackSegment | restoresStackSegment;
    frame.stack.ss_flags = keepsAlternateStack;
    const std::uint64_t words[] = {back.r8,
                                   back.r9,
                                   back.r10,
                                   back.r11,
                                   back.r12,
                                   back.r13,
                                   back.r14,
                                   back.r15,
                                   back.rdi,
                                   back.rsi,
                                   back.rbp,
                                   back.rbx,
                                   back.rdx,
                                   back.rax,
                                   back.rcx,
                                   back.rsp,
                                   back.rip,
                                   back.eflags,
                                   (back.cs & 0xFFFF) | (back.ss & 0xFFFF) << 48};
    std::memcpy(frame.words, words, sizeof words);
    frame.state = state;
    frame.mask = mask;
    return frame;
}

/// The whole state of the floating-point unit, for PTRACE_SETREGSET. Empty on failure.
std::vector<char> readPlainState(pid_t thread) {
    std::vector<char> state(64 << 10);
    iovec room = {state.data(), state.size()};
    if (ptrace(PTRACE_GETREGSET, thread, NT_X86_XSTATE, &room) != 0 || room.iov_len < leastState) {
        return {};
    }
    state.resize(room.iov_len);
    return state;
}

/// The bytes of a state without the tiles of AMX. The kernel gives these only to a thread that
/// requested them, and then it accepts a longer state.
std::uint32_t sizeWithoutTiles(std::uint64_t features) {
    std::uint32_t size = leastState;
    for (unsigned feature = 2; feature < 63; ++feature) {
        unsigned bytes = 0, offset = 0, c = 0, d = 0;
        if ((features >> feature & 1U) != 0 &&
            __get_cpuid_count(0xD, feature, &bytes, &offset, &c, &d) != 0) {
            size = std::max(size, offset + bytes);
        }
    }
    return size;
}

/// The same as the kernel wants it in a frame.
std::vector<char> stateForFrame(std::vector<char> state) {
    std::uint64_t features = 0; // of the processor; the kernel reports them here
    std::uint64_t used = 0;
    std::memcpy(&features, state.data() + sizesAt, sizeof features);
    std::memcpy(&used, state.data() + usedAt, sizeof used);
    if ((used & tiles) == 0) {
        features &= ~tiles;
        state.resize(std::min<std::size_t>(state.size(), sizeWithoutTiles(features)));
    }
    const auto size = static_cast<std::uint32_t>(state.size());
    struct {
        std::uint32_t magic;
        std::uint32_t extendedSize;
        std::uint64_t features;
        std::uint32_t size;
    } sizes = {magicBegin, size + static_cast<std::uint32_t>(sizeof magicEnd), features, size};
    std::memcpy(state.data() + sizesAt, &sizes, sizeof sizes);
    state.resize(size + sizeof magicEnd);
    std::memcpy(state.data() + size, &magicEnd, sizeof magicEnd);
    return state;
}

void writePlainState(pid_t thread, std::vector<char>& state) {
    iovec room = {state.data(), state.size()};
    ptrace(PTRACE_SETREGSET, thread, NT_X86_XSTATE, &room);
}

bool isSystemCallStop(int status) {
    return WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80);
}

/// Whether the thread is about to make the call that ends a handler, with this frame.
bool isAtReturn(pid_t thread, Address frame) {
    Registers now = {};
    return ptrace(PTRACE_GETREGS, thread, nullptr, &now) == 0 && now.orig_rax == SYS_rt_sigreturn &&
           now.rsp == frame + sizeof(std::uint64_t);
}

/// The thread is at the end of the call. It continues at once where it was, and so keeps what a
/// handler loses: how long it has still to wait in a system call.
void goBack(Thread& thread, std::vector<char>& state, std::uint64_t mask,
            Clock::time_point deadline) {
    const Registers& before = thread.registers();
    Registers between = afterInterruption(before);
    between.orig_rax = ~std::uint64_t{0}; // instead of the system call that it is about to make
    writePlainState(thread.id(), state);
    ptrace(PTRACE_SETSIGMASK, thread.id(), sizeof mask, &mask);
    if (ptrace(PTRACE_SETREGS, thread.id(), nullptr, &between) != 0) {
        return; // the end of the handler leads it back
    }
    ptrace(PTRACE_INTERRUPT, thread.id(), nullptr, nullptr);
    std::optional<int> status = thread.resume(PTRACE_CONT, 0, deadline);
    if (!status || !WIFSTOPPED(*status)) {
        return;
    }
    if (*status >> 16 != PTRACE_EVENT_STOP) {
        thread.keepSignal(WSTOPSIG(*status)); // it interrupts the system call, as it would have
    } else {
        Registers exact = before;
        ptrace(PTRACE_SETREGS, thread.id(), nullptr, &exact);
    }
}

/// Removes what the call left below the stack, such as the address of a function of the agent.
void clearBelow(pid_t thread, Address stack) {
    const std::vector<char> zeros(stackNeeded - redZone);
    writeMemory(thread, stack - stackNeeded, zeros.data(), zeros.size());
}

/// A call that has begun.
struct Way {
    const Call& call;
    Thread& thread;
    Address frame;
    Address data;
    Clock::time_point deadline;

    /// Pre: the function has returned, and the thread has not run since.
    void takeResults() const {
        if (call.bytes != 0) {
            readMemory(thread.id(), data, call.data, call.bytes);
        }
        clearBelow(thread.id(), thread.registers().rsp);
    }

    CallResult failure(const std::optional<int>& status) const {
        return !status && Clock::now() > deadline ? CallResult::late : CallResult::ended;
    }
};

/// Stops at each system call, and so before the one that would end the handler.
CallResult watchCalls(const Way& way, std::vector<char>& state, std::uint64_t mask) {
    Thread& thread = way.thread;
    std::optional<int> status = thread.resume(PTRACE_SYSCALL, 0, way.deadline);
    while (status && WIFSTOPPED(*status) &&
           !(isSystemCallStop(*status) && isAtReturn(thread.id(), way.frame))) {
        const int signal = isSystemCallStop(*status) || *status >> 16 != 0 ? 0 : WSTOPSIG(*status);
        status = thread.resume(PTRACE_SYSCALL, signal, way.deadline);
    }
    if (!status || !WIFSTOPPED(*status)) {
        return way.failure(status);
    }
    way.takeResults();
    goBack(thread, state, mask, way.deadline);
    return CallResult::done;
}

/// This program sends a signal, which is pending during the call. The thread stops to receive it as
/// soon as the end of the handler permits signals again. It is then where it was before the call.
/// The stop takes the signal away. If this program has died, the signal arrives, which most
/// programs ignore. Cost: one stop.
CallResult waitForSignal(const Way& way) {
    Thread& thread = way.thread;
    const Registers back = afterInterruption(thread.registers());
    ::syscall(SYS_tgkill, way.call.process, thread.id(), SIGWINCH);
    std::optional<int> status = thread.resume(PTRACE_CONT, 0, way.deadline);
    while (status && WIFSTOPPED(*status)) {
        const int signal = *status >> 16 != 0 ? 0 : WSTOPSIG(*status);
        Registers now = {};
        siginfo_t about = {};
        ptrace(PTRACE_GETREGS, thread.id(), nullptr, &now);
        ptrace(PTRACE_GETSIGINFO, thread.id(), nullptr, &about);
        if (now.rsp == back.rsp && now.rip == back.rip) {
            way.takeResults();
            if (signal != SIGWINCH || about.si_pid != ::getpid()) {
                thread.keepSignal(signal);
            }
            return CallResult::done;
        }
        status = thread.resume(PTRACE_CONT, signal, way.deadline);
    }
    return way.failure(status);
}

} // namespace

CallResult makeCall(Thread& thread, const Call& call, Clock::time_point deadline) {
    const pid_t id = thread.id();
    std::uint64_t mask = 0;
    std::vector<char> plain = readPlainState(id);
    if (plain.empty() || ptrace(PTRACE_GETSIGMASK, id, sizeof mask, &mask) != 0) {
        return CallResult::refused;
    }
    const std::vector<char> state = stateForFrame(plain);
    const Address dataAt = (thread.registers().rsp - redZone - call.bytes) & ~Address{63};
    const Address stateAt = (dataAt - state.size()) & ~Address{63};
    // At the first instruction of a function the stack is 8 bytes off a multiple of 16.
    const Address frameAt = ((stateAt - sizeof(Frame)) & ~Address{15}) - 8;
    const Frame frame = frameOf(thread.registers(), mask, stateAt, call.signalReturn);
    if (!writeMemory(id, stateAt, state.data(), state.size()) ||
        !writeMemory(id, frameAt, &frame, sizeof frame) ||
        (call.bytes != 0 && !writeMemory(id, dataAt, call.data, call.bytes))) {
        return CallResult::refused; // what was below the stack is not in use
    }
    Registers start = thread.registers();
    start.rip = call.function;
    start.rsp = frameAt;
    start.rdi = call.firstIsValue ? call.value : dataAt;
    start.rsi = call.second;
    start.rax = 0;
    start.eflags &= ~directionAndTrap;
    start.orig_rax = ~std::uint64_t{0};
    if (ptrace(PTRACE_SETREGS, id, nullptr, &start) != 0) {
        return CallResult::refused;
    }
    const std::uint64_t blocked = ~faults;
    ptrace(PTRACE_SETSIGMASK, id, sizeof blocked, &blocked);
    const Way way = {call, thread, frameAt, dataAt, deadline};
    const bool waitsForTime = -static_cast<std::int64_t>(thread.registers().rax) == restartBlock &&
                              thread.systemCall() >= 0;
    return waitsForTime || (mask & bit(SIGWINCH)) != 0 ? watchCalls(way, plain, mask)
                                                       : waitForSignal(way);
}

} // namespace heapwright::attach
