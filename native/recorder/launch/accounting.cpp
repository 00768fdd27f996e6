// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See accounting.hpp.
#include "accounting.hpp"

#include "records.hpp"
#include "runner/run/accounts.hpp"
#include "trace/accounts.hpp"
#include "trace/blocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace heapwright::recorder::launch {

namespace {

constexpr double share = 0.0025; ///< of one processor, for each of the two
constexpr runner::Nanoseconds samplingInterval = 10 * runner::millisecond;
constexpr runner::Nanoseconds scanningInterval = 50 * runner::millisecond;
constexpr std::size_t mostPath = 4096;

/// The processor time of all descendants that were waited for.
std::uint64_t cpuOfChildren() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<std::uint64_t>(runner::toNs(usage.ru_utime) + runner::toNs(usage.ru_stime));
}

std::string firstOf(const char* preload) {
    return preload == nullptr ? std::string() : std::string(preload, std::strcspn(preload, ": "));
}

std::size_t sizeOf(const std::vector<runner::Account>& accounts) {
    std::size_t sum = sizeof(trace::BlockHeader) + 1024;
    for (const runner::Account& account : accounts) {
        sum += sizeof(trace::ProcessAccount) + 16 + account.exe.size() + account.provider.size();
    }
    return sum;
}

trace::Piece piece(const std::string& text) {
    return {text.data(), std::min(text.size(), mostPath)};
}

} // namespace

Accounting::Accounting(const Options& options)
    : path_(options.witness), settings_(options.settings), recorder_(firstOf(options.preload)),
      follow_(options.follow), tree_(witness_, getpid()), sampling_(share, samplingInterval),
      scanning_(share, scanningInterval) {
    if (path_ != nullptr && witness_.create(path_)) {
        ::setenv(runner::witness::variable, path_, 1);
    }
}

Accounting::~Accounting() {
    if (isOn()) {
        ::unlink(path_);
    }
}

void Accounting::begin(pid_t command) {
    command_ = command;
    const runner::Nanoseconds now = runner::nowNs();
    sampling_.begin(now);
    scanning_.begin(now + scanningInterval);
    tree_.belongs(command);
}

std::uint64_t Accounting::tick() {
    if (!isOn()) {
        return static_cast<std::uint64_t>(runner::second);
    }
    const runner::Nanoseconds now = runner::nowNs();
    if (sampling_.due(now)) {
        const runner::Nanoseconds before = runner::ownCpuNs();
        tree_.adoptReported();
        tree_.sample();
        sampling_.charge(now, runner::ownCpuNs() - before);
    }
    if (scanning_.due(now)) {
        const runner::Nanoseconds before = runner::ownCpuNs();
        tree_.scan();
        scanning_.charge(now, runner::ownCpuNs() - before);
    }
    const runner::Nanoseconds next = std::min(sampling_.next(), scanning_.next());
    return static_cast<std::uint64_t>(std::max<runner::Nanoseconds>(next - now, 0));
}

void Accounting::noteDeath(pid_t pid) {
    if (isOn()) {
        tree_.noteDeath(pid);
    }
}

void Accounting::write(NewTrace& trace) const {
    if (!isOn()) {
        return;
    }
    const runner::Accounts settled =
        runner::settle(witness_, tree_.members(), std::max(samplingInterval, sampling_.longest()));
    const std::vector<runner::Account> accounts = runner::folded(settled.list);
    Records records(trace, sizeOf(accounts));
    const trace::AccountTotals totals = {cpuOfChildren(),
                                         static_cast<std::uint64_t>(settled.allowance)};
    records.append(trace::record::accountTotals, trace::Piece{&totals, sizeof totals},
                   trace::Piece{settings_, std::min(std::strlen(settings_), mostPath)});
    for (const runner::Account& account : accounts) {
        const bool served = !recorder_.empty() && account.provider == recorder_;
        const trace::Piece exe = piece(account.exe);
        const trace::Piece provider = piece(account.provider);
        const trace::ProcessAccount fields = {
            static_cast<std::uint32_t>(account.pid),
            static_cast<std::uint32_t>(account.parent),
            (account.witnessed ? trace::account::witnessed : 0U) |
                (served && (follow_ || account.pid == command_) ? trace::account::recorded : 0U) |
                (account.providerIsLibc ? trace::account::libc : 0U) |
                (account.exact ? trace::account::exact : 0U) |
                (served ? trace::account::served : 0U),
            static_cast<std::uint32_t>(account.count),
            static_cast<std::uint64_t>(account.cpu),
            static_cast<std::uint64_t>(account.peakBytes.value_or(0)),
            static_cast<std::uint32_t>(exe.count),
            static_cast<std::uint32_t>(provider.count)};
        records.append(trace::record::processAccount, trace::Piece{&fields, sizeof fields}, exe,
                       provider);
    }
    records.finish();
}

} // namespace heapwright::recorder::launch
