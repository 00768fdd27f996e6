// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "safety.hpp"

#include "call.hpp"

#include "look/mappings.hpp"
#include "look/process.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <memory>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unordered_set>

namespace heapwright::attach {

namespace {

constexpr std::chrono::seconds patience{3};
constexpr std::chrono::milliseconds longestWait{20};
constexpr std::chrono::milliseconds forOneStop{500};
constexpr std::size_t mostThreads = 64; ///< that are tried in one round
constexpr std::size_t mostStack = 8 << 20;

/// Neither the allocator nor the loader makes these calls.
constexpr long harmlessCalls[] = {
    SYS_epoll_wait,  SYS_epoll_pwait, SYS_poll,     SYS_ppoll,         SYS_select,
    SYS_pselect6,    SYS_accept,      SYS_accept4,  SYS_nanosleep,     SYS_clock_nanosleep,
    SYS_recvfrom,    SYS_recvmsg,     SYS_recvmmsg, SYS_sendto,        SYS_sendmsg,
    SYS_wait4,       SYS_waitid,      SYS_pause,    SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
    SYS_io_getevents};

using Words = std::vector<Address>;

const look::Mapping* find(const std::vector<look::Mapping>& all, Address at) {
    const auto found = std::find_if(all.begin(), all.end(), [at](const look::Mapping& each) {
        return at >= each.begin && at < each.end;
    });
    return found == all.end() ? nullptr : &*found;
}

/// The words of a stack that are in use.
Words wordsOf(pid_t pid, Address stack, const look::Mapping& mapping) {
    const Address begin = stack & ~Address{7};
    Words words(std::min<Address>(mapping.end - begin, mostStack) / sizeof(Address));
    if (!readMemory(pid, begin, words.data(), words.size() * sizeof(Address))) {
        words.clear();
    }
    return words;
}

/// Whether the thread is where the kernel would let it begin again if it loses its processor. The
/// call takes the place of this, so that the sequence would continue on another processor.
bool isInSequence(pid_t pid, const Thread& thread) {
    constexpr auto getConfiguration = static_cast<__ptrace_request>(0x420F); // since Linux 5.13
    struct {
        Address area;
        std::uint32_t size, signature, flags, unused;
    } configuration = {};
    if (thread.systemCall() >= 0 ||
        ptrace(getConfiguration, thread.id(), sizeof configuration, &configuration) <= 0 ||
        configuration.area == 0) {
        return false;
    }
    Address described = 0;
    if (!readMemory(pid, configuration.area + 8, &described, sizeof described) || described == 0) {
        return false;
    }
    struct {
        std::uint32_t version, flags;
        Address begin, size, afterwards;
    } sequence = {};
    return !readMemory(pid, described, &sequence, sizeof sequence) ||
           thread.registers().rip - sequence.begin < sequence.size;
}

/// Why the thread cannot make a call; empty if it can.
std::string hindrance(const Target& target, const Thread& thread,
                      const std::vector<look::Mapping>& all) {
    const Registers& registers = thread.registers();
    const look::Mapping* const stack = find(all, registers.rsp);
    if (stack == nullptr || !stack->isData()) {
        return "runs on a stack of an unknown kind";
    }
    // Below a stack of the C library is a guard, and the thread's own data are at its end.
    const bool isFirst = stack->path == "[stack]";
    const bool isLibrarys = stack != all.data() && stack[-1].end == stack->begin &&
                            !stack[-1].readable && registers.fs_base > registers.rsp &&
                            registers.fs_base < stack->end;
    if (!isFirst && !isLibrarys) {
        return "runs on a stack of its own, such as that of a coroutine";
    }
    if (registers.rsp - stack->begin < stackNeeded) {
        return "has less than 96 KiB of its stack left";
    }
    const std::vector<Range>& unsafe = target.unsafe();
    const auto isUnsafe = [&unsafe](Address at) {
        return std::any_of(unsafe.begin(), unsafe.end(),
                           [at](const Range& range) { return range.holds(at); });
    };
    if (isUnsafe(registers.rip)) {
        return "was inside malloc or the loader";
    }
    if (isInSequence(target.pid(), thread)) {
        return "was inside a restartable sequence";
    }
    const Words words = wordsOf(target.pid(), registers.rsp, *stack);
    if (words.empty()) {
        return "has a stack that cannot be read";
    }
    const bool isInHandler =
        std::find(words.begin(), words.end(), target.signalReturn()) != words.end();
    const bool isWaiting = std::find(std::begin(harmlessCalls), std::end(harmlessCalls),
                                     thread.systemCall()) != std::end(harmlessCalls);
    if (isWaiting && !isInHandler) {
        return {}; // what looks like a return into malloc is an old word
    }
    return std::any_of(words.begin(), words.end(), isUnsafe)
               ? "was inside malloc or the loader, or called from there"
               : std::string();
}

/// The letter of its state; 'X' if it is gone.
char stateOf(pid_t process, pid_t thread) {
    try {
        const std::string text = look::contentOf("/proc/" + std::to_string(process) + "/task/" +
                                                 std::to_string(thread) + "/stat");
        const std::size_t name = text.rfind(')');
        return name != std::string::npos && name + 2 < text.size() ? text[name + 2] : 'X';
    } catch (const std::system_error&) {
        return 'X';
    }
}

/// The first thread may have ended before the others, and then stays in the list.
bool hasEnded(pid_t process, pid_t thread) {
    const char state = stateOf(process, thread);
    return state == 'Z' || state == 'X';
}

std::string mostFrequent(const std::map<std::string, unsigned>& reasons) {
    const auto most =
        std::max_element(reasons.begin(), reasons.end(),
                         [](const auto& one, const auto& two) { return one.second < two.second; });
    return most == reasons.end() ? "does not stop" : most->first;
}

} // namespace

Thread safeThread(const Target& target) {
    const Clock::time_point end = Clock::now() + patience;
    std::chrono::milliseconds wait{1};
    std::map<std::string, unsigned> reasons;
    while (true) {
        Thread::releaseLate();
        std::vector<pid_t> threads = target.threads();
        if (threads.empty() || !target.isAlive()) {
            throw Ended("the process has ended");
        }
        std::stable_partition(threads.begin(), threads.end(),
                              [&](pid_t id) { return stateOf(target.pid(), id) == 'S'; });
        threads.resize(std::min(threads.size(), mostThreads));
        const std::vector<look::Mapping> mappings = target.mappings();
        for (const pid_t id : threads) {
            std::optional<Thread> thread = Thread::ask(id);
            if (!thread && errno == EPERM && !Thread::isLate(id) && !hasEnded(target.pid(), id)) {
                throw Denial("the kernel does not permit to trace it");
            }
            if (!thread || !thread->hasStopped(Clock::now() + forOneStop)) {
                ++reasons["does not stop"];
                continue;
            }
            const std::string why = hindrance(target, *thread, mappings);
            if (why.empty()) {
                return std::move(*thread);
            }
            ++reasons[why];
        }
        if (Clock::now() > end) {
            throw Refusal((threads.size() == 1 ? "its thread " : "each of its threads ") +
                          mostFrequent(reasons) + ", in all attempts of 3 seconds; try again");
        }
        std::this_thread::sleep_for(wait);
        wait = std::min(wait * 2, longestWait);
    }
}

bool allOutside(const Target& target, const Range& code, Clock::duration& stopped) {
    const Clock::time_point begin = Clock::now();
    const Clock::time_point deadline = begin + forOneStop;
    Thread::releaseLate();
    std::vector<std::unique_ptr<Thread>> held;
    std::unordered_set<pid_t> known;
    bool outside = true;
    // A thread may have started another one before it was stopped.
    for (bool more = true; more && outside;) {
        const std::size_t before = held.size();
        for (const pid_t id : target.threads()) {
            if (known.insert(id).second) {
                if (std::optional<Thread> thread = Thread::ask(id)) {
                    held.push_back(std::make_unique<Thread>(std::move(*thread)));
                } else {
                    outside = hasEnded(target.pid(), id) && outside;
                }
            }
        }
        more = held.size() != before;
        for (std::size_t i = before; i < held.size(); ++i) {
            outside = held[i]->hasStopped(deadline) && outside;
        }
    }
    const std::vector<look::Mapping> all = target.mappings();
    for (const auto& thread : held) {
        const auto* const registers = reinterpret_cast<const Address*>(&thread->registers());
        constexpr std::size_t count = sizeof(Registers) / sizeof(Address);
        const look::Mapping* const stack = find(all, thread->registers().rsp);
        const Words words =
            stack == nullptr ? Words() : wordsOf(target.pid(), thread->registers().rsp, *stack);
        const auto isInside = [&](Address word) {
            return code.holds(word) || word == target.signalReturn();
        };
        outside = outside && !words.empty() &&
                  std::none_of(registers, registers + count, isInside) &&
                  std::none_of(words.begin(), words.end(), isInside);
    }
    held.clear();
    stopped += Clock::now() - begin;
    return outside;
}

bool holdsAny(const Target& target, const std::vector<Address>& words, const Range& without) {
    const look::ProcessImage image(target.pid());
    const std::unordered_set<Address> wanted(words.begin(), words.end());
    const auto [least, most] = std::minmax_element(words.begin(), words.end());
    std::vector<Address> part((1 << 20) / sizeof(Address));
    for (const look::Mapping& mapping : image.mappings()) {
        if (!mapping.readable || (!mapping.isData() && !mapping.isSealed()) ||
            without.holds(mapping.begin)) {
            continue;
        }
        for (Address at = mapping.begin; at < mapping.end; at += part.size() * sizeof(Address)) {
            const Address bytes = std::min(mapping.end - at, part.size() * sizeof(Address));
            image.read(at, part.data(), bytes);
            const auto end = part.begin() + static_cast<std::ptrdiff_t>(bytes / sizeof(Address));
            if (std::any_of(part.begin(), end, [&, low = *least, high = *most](Address word) {
                    return word >= low && word <= high && wanted.count(word) != 0;
                })) {
                return true;
            }
        }
    }
    return false;
}

} // namespace heapwright::attach
