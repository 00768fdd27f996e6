// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
//   heapwright-look [--pause] [--no-leaks] [--sizes] [--mimalloc VERSION] PID
//   heapwright-look [--no-leaks] --core FILE
//
// What is resident in a process, and what glibc's malloc has of it. With a version also what
// mimalloc has.
// Prints one JSON object and exits with 0. On failure it writes a line to standard error. The
// status is then 4 if a right is missing, 5 if the process has ended, else 1. Without --pause the
// process is never stopped. With it, its memory is copied while it stops.
#include "copy.hpp"
#include "core.hpp"
#include "report.hpp"

#include "leakscan/stopped.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

namespace {

using namespace heapwright::look;
using Clock = std::chrono::steady_clock;

constexpr int denied = 4;
constexpr int ended = 5;
constexpr std::chrono::milliseconds betweenSearches{300};

struct Asked {
    bool pause = false;
    bool leaks = true;
    bool sizes = false;
    unsigned mimalloc = 0; ///< the version of its library; 0: it has none
    std::string core;
    pid_t pid = 0;
};

/// Whether a library of granary or one of its variants is mapped.
bool hasGranary(const Image& image) {
    const std::vector<Mapping>& all = image.mappings();
    return std::any_of(all.begin(), all.end(), [](const Mapping& mapping) {
        return mapping.path.find("libheapwright-granary") != std::string::npos;
    });
}

/// Everything but the leaks. `figures` has the mappings with their resident sizes.
Findings findingsOf(const Image& image, const Image& figures, unsigned mimalloc = 0) {
    Findings findings;
    findings.glibc = findGlibc(image);
    if (findings.glibc) {
        findings.heap = accountOf(image, *findings.glibc);
        findings.blocks = mappedChunks(image, *findings.glibc, findings.heap.segments);
    }
    if (hasGranary(figures)) {
        findings.granary = findGranary(image);
    }
    findings.mimalloc = findMimalloc(image, mimalloc);
    for (const MappedChunk& block : findings.blocks) {
        findings.blocksResident += image.residentBytes(block.at, block.at + block.size);
    }
    findings.stacks = threadStacks(image);
    for (const Stack& stack : findings.stacks) {
        findings.endedStacksResident +=
            stack.isEnded ? image.residentBytes(stack.begin, stack.end) : 0;
    }
    findings.categories = categoriesOf(figures, findings.glibc ? &*findings.glibc : nullptr,
                                       findings.heap, findings.blocks, findings.stacks);
    return findings;
}

Leaks search(const Image& image, const Findings& findings, const Roots& roots) {
    return findLeaks(image, *findings.glibc, findings.heap, findings.blocks, roots);
}

/// The live blocks by the power of two that is at most their size.
std::vector<Blocks> sizesOf(const Image& image, const Findings& findings) {
    constexpr std::size_t most = 20'000'000;
    std::vector<Blocks> sizes(64);
    for (const Chunk& chunk : liveChunks(image, findings.heap, most).first) {
        sizes[63 - static_cast<unsigned>(__builtin_clzll(chunk.size - 8))].add(chunk.size);
    }
    for (const MappedChunk& block : findings.blocks) {
        Blocks& sum = sizes[63 - static_cast<unsigned>(__builtin_clzll(block.usable()))];
        ++sum.blocks;
        sum.bytes += block.usable();
    }
    return sizes;
}

int print(const Findings& findings, const Image& image) {
    std::puts(reportOf(findings, image).c_str());
    return std::fflush(stdout) == 0 ? 0 : 1;
}

int lookAtCore(const Asked& asked) {
    const CoreImage image(asked.core);
    Findings findings = findingsOf(image, image);
    findings.isCore = true;
    findings.missingBytes = image.missingBytes();
    if (asked.leaks && findings.glibc && findings.missingBytes == 0) {
        findings.leaks = search(image, findings, {image.stackPointers(), image.registers()});
    }
    return print(findings, image);
}

/// Two accounts and two searches, because the process changes its memory meanwhile.
Findings lookAtRunning(const ProcessImage& process, bool leaks, unsigned mimalloc) {
    Findings findings = findingsOf(process, process, mimalloc);
    if (!leaks || !findings.glibc) {
        return findings;
    }
    findings.leaks = search(process, findings, {stackPointers(process.pid()), {}});
    if (!findings.leaks->lost.empty()) {
        std::this_thread::sleep_for(betweenSearches);
        const ProcessImage later(process.pid());
        const std::optional<Glibc> glibc = findGlibc(later);
        if (glibc) {
            const HeapAccount account = accountOf(later, *glibc);
            const auto blocks = mappedChunks(later, *glibc, account.segments);
            keepCommon(*findings.leaks, findLeaks(later, *glibc, account, blocks,
                                                  {stackPointers(process.pid()), {}}));
        }
    }
    return findings;
}

Findings lookAtStopped(const ProcessImage& process, bool leaks, unsigned mimalloc) {
    CopyImage copy(process);
    Roots roots;
    const Clock::time_point begin = Clock::now();
    std::size_t bytes = 0;
    {
        const heapwright::leakscan::Stopped stopped(process.pid());
        bytes = copy.copy();
        roots.registers = stopped.registers();
        roots.stackPointers = stopped.stackPointers();
    }
    const std::chrono::duration<double, std::milli> pause = Clock::now() - begin;
    Findings findings = findingsOf(copy, process, mimalloc);
    findings.pauseMs = pause.count();
    findings.copiedBytes = bytes;
    if (leaks && findings.glibc) {
        findings.leaks = search(copy, findings, roots);
    }
    return findings;
}

int fail(const std::string& why, int status) {
    std::fprintf(stderr, "heapwright-look: %s\n", why.c_str());
    return status;
}

int lookAtProcess(const Asked& asked) {
    const std::string name = "process " + std::to_string(asked.pid);
    if (startOf(asked.pid).empty()) {
        return fail(name + " does not exist, or has ended", ended);
    }
    const ProcessImage process(asked.pid);
    if (process.mappings().empty()) {
        return fail(name + (process.isAlive() ? " has no memory of its own: it is a kernel thread"
                                              : " ended during the look"),
                    ended);
    }
    Findings findings = asked.pause ? lookAtStopped(process, asked.leaks, asked.mimalloc)
                                    : lookAtRunning(process, asked.leaks, asked.mimalloc);
    if (asked.sizes && findings.glibc) {
        findings.sizes = sizesOf(process, findings);
    }
    if (!process.isAlive()) {
        return fail(name + " ended during the look", ended);
    }
    return print(findings, process);
}

int statusOf(const std::system_error& error) {
    const int number = error.code().value();
    return number == EACCES || number == EPERM   ? denied
           : number == ENOENT || number == ESRCH ? ended
                                                 : 1;
}

bool parse(int count, char** arguments, Asked& asked) {
    for (int at = 1; at < count; ++at) {
        if (std::strcmp(arguments[at], "--pause") == 0) {
            asked.pause = true;
        } else if (std::strcmp(arguments[at], "--no-leaks") == 0) {
            asked.leaks = false;
        } else if (std::strcmp(arguments[at], "--sizes") == 0) {
            asked.sizes = true;
        } else if (std::strcmp(arguments[at], "--mimalloc") == 0 && at + 1 < count) {
            const char* const word = arguments[++at];
            const char* const end = word + std::strlen(word);
            if (std::from_chars(word, end, asked.mimalloc).ptr != end || asked.mimalloc == 0) {
                return false;
            }
        } else if (std::strcmp(arguments[at], "--core") == 0 && at + 1 < count) {
            asked.core = arguments[++at];
        } else {
            asked.pid = std::atoi(arguments[at]);
        }
    }
    const bool hasCore = !asked.core.empty();
    return (asked.pid > 0) != hasCore && !(hasCore && asked.mimalloc != 0);
}

} // namespace

int main(int count, char** arguments) {
    Asked asked;
    if (!parse(count, arguments, asked)) {
        return fail("usage: heapwright-look [--pause] [--no-leaks] [--sizes] [--mimalloc VERSION] "
                    "PID | [--no-leaks] --core FILE",
                    2);
    }
    try {
        return asked.core.empty() ? lookAtProcess(asked) : lookAtCore(asked);
    } catch (const std::system_error& error) {
        if (asked.core.empty() && startOf(asked.pid).empty()) {
            return fail("process " + std::to_string(asked.pid) + " ended during the look", ended);
        }
        if (error.code() == std::errc::timed_out) {
            return fail("a thread did not stop within two seconds, so nothing was copied and the "
                        "process continues; look at it without --pause",
                        1);
        }
        return fail(error.what(), statusOf(error));
    } catch (const std::bad_alloc&) {
        return fail("there is not enough memory for the search; --no-leaks needs less", 1);
    } catch (const std::exception& error) {
        return fail(error.what(), 1);
    }
}
