// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See trace_file.hpp.
#include "trace_file.hpp"

#include "recording.hpp"
#include "trace/blocks.hpp"
#include "trace/seal.hpp"

#include <heapwright/platform/ticks.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace heapwright::recorder::launch {

namespace {

using platform::clockNanoseconds;

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t millisecond = 1'000'000;

[[noreturn]] void fail(const char* path) {
    throw std::system_error(errno, std::generic_category(), path);
}

/// Both clocks at one moment, as nearly as can be had.
struct Moment {
    std::uint64_t ticks;
    std::uint64_t ns;

    static Moment now() {
        Moment best{};
        std::uint64_t least = ~std::uint64_t{0};
        for (int i = 0; i < 5; ++i) {
            const std::uint64_t before = platform::ticks();
            const std::uint64_t ns = clockNanoseconds(CLOCK_MONOTONIC);
            const std::uint64_t took = platform::ticks() - before;
            if (took < least) {
                least = took;
                best = {before + took / 2, ns};
            }
        }
        return best;
    }
};

unsigned shiftOf(const Options& options) {
    return options.stacks ? recorder::Recording::stackShift : recorder::Recording::plainShift;
}

std::uint64_t ticksPerSecond(const Moment& from, const Moment& to, unsigned shift) {
    const double rate = static_cast<double>(to.ticks - from.ticks) /
                        static_cast<double>(to.ns - from.ns) * double{second};
    return static_cast<std::uint64_t>(rate) >> shift;
}

/// Good to about a ten thousandth; the whole run will tell it better.
std::uint64_t measureRate(const Moment& from, unsigned shift) {
    while (clockNanoseconds(CLOCK_MONOTONIC) - from.ns < millisecond) {
    }
    return ticksPerSecond(from, Moment::now(), shift);
}

std::uint32_t flagsOf(const Options& options) {
    return (options.stacks ? trace::flag::stacks : 0U) |
           (options.follow ? trace::flag::followed : 0U) |
           (options.sample > 1 ? trace::flag::sampled : 0U);
}

/// Of a limit, for the accounts.
constexpr std::uint64_t keptPart = 8;
constexpr std::uint64_t mostKept = 64 << 10;

} // namespace

NewTrace::NewTrace(const Options& options) : path_(options.trace), limit_(options.limit) {
    file_ = ::open(options.trace, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    if (file_ < 0) {
        fail(options.trace);
    }
    const int error = ::posix_fallocate(file_, 0, trace::pageSize);
    if (error != 0) {
        errno = error;
        fail(options.trace);
    }
    void* const page =
        ::mmap(nullptr, trace::pageSize, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (page == MAP_FAILED) {
        fail(options.trace);
    }
    const bool steady = platform::steadyTicks();
    const Moment began = Moment::now();
    beganTicks_ = began.ticks;
    beganNs_ = began.ns;
    const unsigned shift = steady ? shiftOf(options) : 0;
    trace::FileHeader header = trace::newHeader(
        steady ? trace::Clock::timestamp : trace::Clock::monotonic, shift,
        steady ? measureRate(began, shift) : second, steady ? began.ticks >> shift : began.ns,
        clockNanoseconds(CLOCK_REALTIME) - (clockNanoseconds(CLOCK_MONOTONIC) - began.ns));
    header.flags = flagsOf(options);
    header.sampleInterval = options.sample;
    header.sampleSalt = options.salt;
    header.limit = options.limit - std::min(options.limit / keptPart, mostKept);
    header.reserved = trace::pageSize;
    header.recording = options.paused ? 0 : 1;
    header.launcher = static_cast<std::uint32_t>(::getpid());
    trace::sealHeader(header);
    header_ = static_cast<trace::FileHeader*>(page);
    *header_ = header;
}

NewTrace::~NewTrace() {
    ::munmap(header_, trace::pageSize);
    ::close(file_);
}

void NewTrace::setRecording(bool on) {
    if (trace::mayGrow(*header_) || !on) {
        std::atomic_ref(header_->recording).store(on ? 1 : 0);
    }
}

void NewTrace::toggle() {
    setRecording(std::atomic_ref(header_->recording).load() == 0);
}

void NewTrace::addAccounts(const trace::BlockHeader& block) {
    const std::size_t size = trace::pageSize << block.sizeShift;
    const std::atomic_ref claimed(header_->claimed);
    const std::uint64_t at = claimed.fetch_add(size);
    const bool fits = limit_ == 0 || at + size <= limit_;
    if (!fits ||
        ::pwrite(file_, &block, size, static_cast<off_t>(at)) != static_cast<ssize_t>(size)) {
        std::uint64_t expected = at + size; // no gap, unless a process has claimed beyond it
        claimed.compare_exchange_strong(expected, at);
    }
}

std::uint64_t NewTrace::ticks() const {
    const std::uint64_t now = header_->clock == trace::Clock::timestamp
                                  ? platform::ticks() >> header_->clockShift
                                  : clockNanoseconds(CLOCK_MONOTONIC);
    return now > header_->startTicks ? now - header_->startTicks : 0;
}

double NewTrace::seconds() const {
    const std::uint64_t passed = clockNanoseconds(CLOCK_MONOTONIC) - beganNs_;
    return static_cast<double>(passed) / double{second};
}

void NewTrace::close(bool alone) {
    setRecording(false);
    const Moment now = Moment::now();
    if (header_->clock == trace::Clock::timestamp && now.ns - beganNs_ > 20 * millisecond) {
        header_->ticksPerSecond = ticksPerSecond({beganTicks_, beganNs_}, now, header_->clockShift);
        trace::sealHeader(*header_);
    }
    std::atomic_ref(header_->closed).store(1);
    struct stat status = {};
    if (alone && ::fstat(file_, &status) == 0) {
        const auto size = static_cast<std::uint64_t>(status.st_size);
        const std::uint64_t kept = std::min(size, std::atomic_ref(header_->claimed).load());
        if (::ftruncate(file_, static_cast<off_t>(kept)) == 0) {
            header_->reserved = kept;
        }
        seal();
    }
}

/// The processes have ended. Without checksums the trace can be used as well.
void NewTrace::seal() const {
    try {
        trace::sealOpenBlocks(path_);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "heapwright-record: the last blocks have no checksums: %s\n",
                     error.what());
    }
}

} // namespace heapwright::recorder::launch
