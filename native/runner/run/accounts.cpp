// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See accounts.hpp. native/runner/README.md explains the allowance.
#include "accounts.hpp"

#include "lifetimes.hpp"

#include <algorithm>
#include <map>
#include <sched.h>
#include <sys/wait.h>
#include <tuple>

namespace heapwright::runner {

namespace {

using witness::Record;

// The CPU time that the kernel may charge a process for its removal after its last report.
// Measured: 0.03 to 0.05 ms, and 0.1 to 0.4 us for each page that it still has. The bounds are
// three times that.
constexpr Nanoseconds burial = 150'000;
constexpr Nanoseconds burialPerPage = 1'000;
// Minor page faults of a process after its last report: of exit handlers that are called later. A
// program that is started takes more: a static one that does nothing takes about 27.
constexpr std::int64_t lateFaults = 8;
// The kernel reports user and system time in whole microseconds.
constexpr Nanoseconds rounding = 2'000;
constexpr std::int64_t page = 4096;
constexpr std::int64_t growth = 16
                                // Memory that a process may add between the last sample and its
                                // end.
                                << 20;

/// CPU time and minor page faults.
struct Used {
    Nanoseconds cpu = 0;
    std::int64_t faults = 0;
};

Used usedBy(const witness::Reaped& reaped) {
    return {ns(reaped.cpuNs), reaped.faults};
}

/// What whole lifetimes used, as their parents received it from wait.
class Totals {
public:
    explicit Totals(const std::vector<ProcessLifetime>& lifetimes) : lifetimes_(lifetimes) {}

    /// The part of a lifetime's use that is its process's own. The rest belongs to the children it
    /// waited for.
    Used ownPart(const ProcessLifetime& lifetime) const {
        Used own = usedBy(*lifetime.reaped);
        for (const std::size_t index : lifetime.children) {
            const Used child = broughtIn(lifetimes_[index], lifetime.pid);
            own.cpu -= child.cpu;
            own.faults -= child.faults;
        }
        own.cpu = std::max<Nanoseconds>(own.cpu, 0);
        return own;
    }

private:
    /// What a child adds to its parent's account: nothing if another process waited for it.
    Used broughtIn(const ProcessLifetime& child, pid_t parent) const {
        if (child.reaped != nullptr) {
            return child.reaped->reaper == parent ? usedBy(*child.reaped) : Used{};
        }
        if (child.member != nullptr && child.member->reaped) {
            return {};
        }
        Used sum;
        if (!child.images.empty()) {
            sum = {ns(child.images.back()->cpuNs), child.images.back()->faults};
        }
        if (child.member != nullptr) {
            sum.cpu = std::max(sum.cpu, child.member->cpu);
        }
        for (const std::size_t index : child.children) {
            const Used grandchild = broughtIn(lifetimes_[index], child.pid);
            sum.cpu += grandchild.cpu;
            sum.faults += grandchild.faults;
        }
        return sum;
    }

    const std::vector<ProcessLifetime>& lifetimes_;
};

std::optional<std::int64_t> seenPeak(const Member* member) {
    return member != nullptr && member->peakBytes > 0 ? std::optional(member->peakBytes)
                                                      : std::nullopt;
}

/// How the whole lifetime ended, as far as it is known.
void describeEnd(Account& account, const ProcessLifetime& lifetime) {
    const bool waited = lifetime.member != nullptr && lifetime.member->reaped;
    if (waited || lifetime.reaped != nullptr) {
        const int status = waited ? lifetime.member->status : lifetime.reaped->status;
        account.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    if (lifetime.member != nullptr && lifetime.member->signalled && account.signal != 0) {
        account.ending = Ending::endedByHarness;
    } else if (account.signal != 0) {
        account.ending = Ending::killed;
    } else if (waited || lifetime.reaped != nullptr || lifetime.exited()) {
        account.ending = Ending::exited;
    } else if (lifetime.member != nullptr && lifetime.member->signalled) {
        account.ending = Ending::endedByHarness;
    } else {
        account.ending = lifetime.images.empty() ? Ending::unknown : Ending::vanished;
    }
}

class AccountBuilder {
public:
    AccountBuilder(const WitnessFile& witness, const std::vector<ProcessLifetime>& lifetimes,
                   Nanoseconds gap)
        : witness_(witness), lifetimes_(lifetimes), totals_(lifetimes), gap_(gap) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        processors_ = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    }

    Accounts accounts() {
        for (const ProcessLifetime& lifetime : lifetimes_) {
            if (lifetime.images.empty()) {
                addSilent(lifetime);
            } else {
                addReporting(lifetime);
            }
        }
        return std::move(result_);
    }

private:
    void add(Account account) {
        result_.known += account.cpu;
        result_.list.push_back(std::move(account));
    }

    Account accountOf(const ProcessLifetime& lifetime, const Record& record) const {
        Account account;
        account.pid = lifetime.pid;
        account.parent = record.parent;
        account.exe = witness_.text(record.exe);
        account.provider = witness_.text(record.provider);
        account.providerIsLibc = hasBit(record, witness::libcProvides);
        account.witnessed = true;
        return account;
    }

    /// All images but the last end at the CPU clock at which the next one began.
    void addReporting(const ProcessLifetime& lifetime) {
        Nanoseconds before = 0;
        for (std::size_t i = 0; i + 1 < lifetime.images.size(); ++i) {
            Account account = accountOf(lifetime, *lifetime.images[i]);
            const Nanoseconds until = ns(lifetime.images[i + 1]->cpuStartNs);
            account.cpu = until - before;
            account.exact = true;
            account.ending = Ending::replaced;
            before = until;
            add(std::move(account));
        }
        addLast(lifetime, before);
    }

    void addLast(const ProcessLifetime& lifetime, Nanoseconds before) {
        const Record& record = *lifetime.images.back();
        Account account = accountOf(lifetime, record);
        account.peakBytes = seenPeak(lifetime.member);
        const auto [cpu, exact] = cpuOfLife(lifetime);
        const ImageSpan* const other = silentProgram(lifetime, account.exe);
        if (hasBit(record, witness::replacing) && !lifetime.exited()) {
            const std::string next =
                other != nullptr ? other->exe : witness_.text(record.successor);
            const Nanoseconds until = std::max(ns(record.cpuNs), before);
            account.cpu = until - before;
            account.exact = true;
            account.ending = Ending::replaced;
            add(std::move(account));
            addSuccessor(lifetime, next, std::max<Nanoseconds>(cpu - until, 0), exact);
            return;
        }
        if (other != nullptr) {
            account.cpu = std::max<Nanoseconds>(other->cpuAtStart - before, 0);
            account.ending = Ending::replaced;
            add(std::move(account));
            addStretch(lifetime, *other, cpu, exact);
            return;
        }
        account.cpu = std::max<Nanoseconds>(cpu - before, 0);
        account.exact = exact;
        describeEnd(account, lifetime);
        takePeak(account, record);
        add(std::move(account));
    }

    /// The program that a process announced to exec, and that has not reported.
    void addSuccessor(const ProcessLifetime& lifetime, const std::string& exe, Nanoseconds cpu,
                      bool exact) {
        Account account;
        account.pid = lifetime.pid;
        account.parent = lifetime.images.back()->parent;
        account.exe = exe;
        account.cpu = cpu;
        account.exact = exact;
        account.peakBytes = seenPeak(lifetime.member);
        describeEnd(account, lifetime);
        add(std::move(account));
    }

    struct Cpu {
        Nanoseconds time;
        bool exact;
    };

    /// The own CPU time of a lifetime that reported. The parent's account completes it. The account
    /// may include a child that is otherwise unknown, and such a child takes page faults. If there
    /// are any, the account adds no more than a removal can cost after the last report. What
    /// remains unknown adds to the allowance.
    Cpu cpuOfLife(const ProcessLifetime& lifetime) {
        const Record& record = *lifetime.images.back();
        const Member* const member = lifetime.member;
        const bool spoke = lifetime.exited() && !hasBit(record, witness::sandboxed);
        const Nanoseconds said = ns(record.cpuNs);
        if (member != nullptr && member->reaped) {
            return {std::max(member->cpu, said), true};
        }
        const Nanoseconds least = spoke || member == nullptr ? said : std::max(said, member->cpu);
        if (lifetime.reaped != nullptr) {
            result_.allowance += rounding;
            const Used own = totals_.ownPart(lifetime);
            const bool alone = own.faults <= std::int64_t{record.faults} + lateFaults;
            return {spoke && !alone ? std::clamp(own.cpu, least, least + teardown(record, member))
                                    : std::max(own.cpu, least),
                    true};
        }
        if (spoke) {
            result_.allowance += teardown(record, member);
        } else if (member != nullptr) { // seen alive until the end, but the end itself is not known
            result_.allowance += teardown(record, member) + gap_ * processors_;
        }
        return {least, spoke};
    }

    static Nanoseconds teardown(const Record& record, const Member* member) {
        std::int64_t resident = std::int64_t{record.peakKb} * 1024;
        if (member != nullptr) {
            resident = std::min(std::max(resident, member->peakBytes), member->lastBytes + growth);
        }
        return burial + burialPerPage * (resident / page);
    }

    /// The kernel's peak at the exit, unless exec carried over a larger one from another image.
    void takePeak(Account& account, const Record& record) {
        if (hasBit(record, witness::exited) && record.peakKb > record.peakStartKb) {
            const std::int64_t peak = std::int64_t{record.peakKb} * 1024;
            account.peakBytes = std::max(account.peakBytes.value_or(0), peak);
            result_.peakBytes = std::max(result_.peakBytes, *account.peakBytes);
        }
    }

    /// The program that a process was last seen to run, if it is not the one that reported last.
    static const ImageSpan* silentProgram(const ProcessLifetime& lifetime, const std::string& exe) {
        if (lifetime.member == nullptr || lifetime.exited()) {
            return nullptr;
        }
        const ImageSpan& last = lifetime.member->spans.back();
        const bool same = last.exe.empty() || exe.empty() || last.exe.ends_with(exe);
        return !same && last.start > ns(lifetime.images.back()->startNs) ? &last : nullptr;
    }

    /// Adds a process that never reported. Its parent knows its CPU time, the sampler its program.
    void addSilent(const ProcessLifetime& lifetime) {
        const bool waited = lifetime.member != nullptr && lifetime.member->reaped;
        Nanoseconds cpu = lifetime.member != nullptr ? lifetime.member->cpu : 0;
        if (lifetime.reaped != nullptr && !waited) {
            cpu = std::max(cpu, totals_.ownPart(lifetime).cpu);
        }
        const bool exact = waited || lifetime.reaped != nullptr;
        if (lifetime.member == nullptr) {
            Account account;
            account.pid = lifetime.pid;
            account.parent = lifetime.parent;
            account.cpu = cpu;
            account.exact = exact;
            describeEnd(account, lifetime);
            return add(std::move(account));
        }
        for (const ImageSpan& span : lifetime.member->spans) {
            const bool last = &span == &lifetime.member->spans.back();
            if (last || (&span + 1)->cpuAtStart - span.cpuAtStart > millisecond) {
                addStretch(lifetime, span, cpu, exact);
            } // otherwise it was only about to exec
        }
    }

    void addStretch(const ProcessLifetime& lifetime, const ImageSpan& span, Nanoseconds cpuAtEnd,
                    bool exact) {
        const bool last = &span == &lifetime.member->spans.back();
        Account account;
        account.pid = lifetime.pid;
        account.parent = lifetime.parent;
        account.exe = span.exe;
        const Nanoseconds end = last ? cpuAtEnd : (&span + 1)->cpuAtStart;
        account.cpu = std::max<Nanoseconds>(end - span.cpuAtStart, 0);
        account.exact = last && exact;
        account.peakBytes = seenPeak(lifetime.member);
        if (last) {
            describeEnd(account, lifetime);
        } else {
            account.ending = Ending::replaced;
        }
        add(std::move(account));
    }

    const WitnessFile& witness_;
    const std::vector<ProcessLifetime>& lifetimes_;
    Totals totals_;
    Nanoseconds gap_;
    int processors_ = 1;
    Accounts result_;
};

} // namespace

Accounts settle(const WitnessFile& witness, const std::vector<Member>& members, Nanoseconds gap) {
    const std::vector<ProcessLifetime> lifetimes = gatherLifetimes(witness, members);
    return AccountBuilder(witness, lifetimes, gap).accounts();
}

std::vector<Account> folded(std::vector<Account> accounts) {
    constexpr std::size_t keep = 200;
    if (accounts.size() <= keep + keep / 2) {
        return accounts;
    }
    std::stable_sort(accounts.begin(), accounts.end(),
                     [](const Account& a, const Account& b) { return a.cpu > b.cpu; });
    std::vector<Account> result(accounts.begin(), accounts.begin() + keep);
    std::map<std::tuple<std::string, std::string, bool, bool, Ending, int>, std::size_t> places;
    for (std::size_t i = keep; i < accounts.size(); ++i) {
        const Account& account = accounts[i];
        const auto [place, fresh] =
            places.try_emplace({account.exe, account.provider, account.witnessed, account.exact,
                                account.ending, account.signal},
                               result.size());
        if (fresh) {
            result.push_back(account);
            continue;
        }
        Account& sum = result[place->second];
        sum.cpu += account.cpu;
        sum.count += 1;
        // "nothing" is less than any number
        sum.peakBytes = std::max(sum.peakBytes, account.peakBytes);
    }
    return result;
}

} // namespace heapwright::runner
