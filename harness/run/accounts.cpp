// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See accounts.hpp; the reasoning behind the allowance is in harness/README.md.
#include "accounts.hpp"

#include <algorithm>
#include <map>
#include <sched.h>
#include <tuple>
#include <unordered_map>

namespace heapwright::harness {

namespace {

using witness::Record;

// What the kernel charges a process for its own burial, after its last word: measured at 0.03 to
// 0.05 ms and 0.1 to 0.3 us for each page that it still had.
constexpr Nanoseconds burial = 50'000;
constexpr Nanoseconds burialPerPage = 500;
constexpr std::int64_t page = 4096;
constexpr std::int64_t growth = 16
                                << 20; // what a process may add between the last look and its end

bool has(const Record& record, std::uint32_t bit) {
    return (record.state.load(std::memory_order_relaxed) & bit) != 0;
}

Nanoseconds ns(std::uint64_t time) {
    return static_cast<Nanoseconds>(time);
}

/// One process: the records of the images that it went through, and the member seen from outside.
struct Chain {
    std::vector<const Record*> images;
    const Member* member = nullptr;

    const Record& first() const { return *images.front(); }
    const Record& last() const { return *images.back(); }
};

/// An image continues the process that last had its pid, unless that one has left, or the CPU
/// clock, which runs on through exec, has gone back: then the pid has been used again.
bool continues(const Chain& chain, const Record& record) {
    return !has(record, witness::forked) && !has(record, witness::late) &&
           !has(chain.last(), witness::exited) && record.cpuStartNs >= chain.last().cpuStartNs;
}

class Settlement {
public:
    Settlement(const WitnessFile& witness, Nanoseconds gap) : witness_(witness), gap_(gap) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        processors_ = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    }

    Accounts of(const std::vector<Member>& members) {
        chainUp();
        for (const Member& member : members) {
            if (Chain* const chain = chainOf(member)) {
                chain->member = &member;
            } else {
                addStranger(member);
            }
        }
        for (const Chain& chain : chains_) {
            addChain(chain);
        }
        return std::move(result_);
    }

private:
    void chainUp() {
        for (std::uint32_t i = 0; i < witness_.records(); ++i) {
            const Record* const record = witness_.record(i);
            if (record == nullptr) {
                continue; // killed while it was writing
            }
            std::vector<std::size_t>& ofPid = byPid_[record->pid];
            if (ofPid.empty() || !continues(chains_[ofPid.back()], *record)) {
                ofPid.push_back(chains_.size());
                chains_.emplace_back();
            }
            chains_[ofPid.back()].images.push_back(record);
        }
    }

    /// The latest process of that pid whose life overlaps with the member's; a dead process may be
    /// met a little later, before its parent has waited for it.
    Chain* chainOf(const Member& member) {
        const auto found = byPid_.find(member.pid);
        if (found == byPid_.end()) {
            return nullptr;
        }
        for (auto at = found->second.rbegin(); at != found->second.rend(); ++at) {
            Chain& chain = chains_[*at];
            const Nanoseconds end = has(chain.last(), witness::exited) ? ns(chain.last().endNs) : 0;
            const bool begun = member.gone == 0 || ns(chain.first().startNs) <= member.gone;
            if (chain.member == nullptr && begun &&
                (end == 0 || end + second >= member.firstSeen)) {
                return &chain;
            }
        }
        return nullptr;
    }

    Account accountOf(const Record& record) const {
        Account account;
        account.pid = record.pid;
        account.parent = record.parent;
        account.exe = witness_.text(record.exe);
        account.provider = witness_.text(record.provider);
        account.providerIsLibc = has(record, witness::libcProvides);
        account.witnessed = true;
        return account;
    }

    void add(Account account) {
        result_.known += account.cpu;
        result_.list.push_back(std::move(account));
    }

    void addChain(const Chain& chain) {
        Nanoseconds before = 0;
        for (std::size_t i = 0; i + 1 < chain.images.size(); ++i) {
            Account account = accountOf(*chain.images[i]);
            account.cpu = ns(chain.images[i + 1]->cpuStartNs) - before;
            account.exact = true;
            account.ending = Ending::replaced;
            before = ns(chain.images[i + 1]->cpuStartNs);
            add(std::move(account));
        }
        addLast(chain, before);
    }

    void addLast(const Chain& chain, Nanoseconds before) {
        const Record& record = chain.last();
        const Member* const member = chain.member;
        Account account = accountOf(record);
        account.peakBytes = member != nullptr ? seenPeak(*member) : std::nullopt;
        if (const Stretch* const other = silentProgram(chain, account.exe)) {
            account.cpu = std::max<Nanoseconds>(other->cpuAtStart - before, 0);
            account.ending = Ending::replaced;
            add(std::move(account));
            addSilent(*member, *other);
            return;
        }
        const bool left = has(record, witness::exited);
        const Nanoseconds seen = member != nullptr ? member->cpu : 0;
        const bool reaped = member != nullptr && member->reaped;
        account.cpu = std::max(std::max(ns(record.cpuNs), seen) - before, Nanoseconds{0});
        account.exact = reaped || (left && !has(record, witness::sandboxed));
        account.ending = endingOf(left, member);
        takePeak(account, record);
        if (!reaped) {
            result_.allowance += allowanceOf(member, record, left);
        }
        add(std::move(account));
    }

    static std::optional<std::int64_t> seenPeak(const Member& member) {
        return member.peakBytes > 0 ? std::optional(member.peakBytes) : std::nullopt;
    }

    static Ending endingOf(bool left, const Member* member) {
        if (left) {
            return Ending::exited;
        }
        return member != nullptr && member->signalled ? Ending::endedByHarness : Ending::vanished;
    }

    /// The kernel's peak at the exit, unless exec had carried in a larger one from another image.
    void takePeak(Account& account, const Record& record) {
        if (has(record, witness::exited) && record.peakKb > record.peakStartKb) {
            const std::int64_t peak = std::int64_t{record.peakKb} * 1024;
            account.peakBytes = std::max(account.peakBytes.value_or(0), peak);
            result_.peakBytes = std::max(result_.peakBytes, *account.peakBytes);
        }
    }

    Nanoseconds allowanceOf(const Member* member, const Record& record, bool left) const {
        std::int64_t resident = std::int64_t{record.peakKb} * 1024;
        if (member != nullptr) {
            resident = std::min(std::max(resident, member->peakBytes), member->lastBytes + growth);
        }
        const Nanoseconds teardown = burial + burialPerPage * (resident / page);
        if (left && !has(record, witness::sandboxed)) {
            return teardown;
        }
        // Seen alive and proven to the end, but the end itself was not reported.
        return member != nullptr ? teardown + gap_ * processors_ : 0;
    }

    /// The program that a process was last seen to run, if that is not the one that reported last.
    static const Stretch* silentProgram(const Chain& chain, const std::string& exe) {
        const Member* const member = chain.member;
        if (member == nullptr || has(chain.last(), witness::exited)) {
            return nullptr;
        }
        const Stretch& last = member->stretches.back();
        const bool same = last.exe.empty() || exe.empty() || last.exe.ends_with(exe);
        return !same && last.start > ns(chain.last().startNs) ? &last : nullptr;
    }

    void addSilent(const Member& member, const Stretch& stretch) {
        Account account;
        account.pid = member.pid;
        account.parent = member.parent;
        account.exe = stretch.exe;
        const Stretch* const next = &stretch == &member.stretches.back() ? nullptr : &stretch + 1;
        const Nanoseconds end = next != nullptr ? next->cpuAtStart : member.cpu;
        account.cpu = std::max<Nanoseconds>(end - stretch.cpuAtStart, 0);
        account.exact = next == nullptr && member.reaped;
        account.peakBytes = seenPeak(member);
        account.ending = endingOfSilent(member, next != nullptr);
        add(std::move(account));
    }

    static Ending endingOfSilent(const Member& member, bool replaced) {
        if (replaced) {
            return Ending::replaced;
        }
        if (member.signalled) {
            return Ending::endedByHarness;
        }
        return member.reaped ? Ending::exited : Ending::unknown;
    }

    void addStranger(const Member& member) {
        for (const Stretch& stretch : member.stretches) {
            addSilent(member, stretch);
        }
    }

    const WitnessFile& witness_;
    Nanoseconds gap_;
    int processors_ = 1;
    std::vector<Chain> chains_;
    std::unordered_map<pid_t, std::vector<std::size_t>> byPid_;
    Accounts result_;
};

} // namespace

Accounts settle(const WitnessFile& witness, const std::vector<Member>& members, Nanoseconds gap) {
    return Settlement(witness, gap).of(members);
}

std::vector<Account> folded(std::vector<Account> accounts) {
    constexpr std::size_t keep = 200;
    if (accounts.size() <= keep + keep / 2) {
        return accounts;
    }
    std::stable_sort(accounts.begin(), accounts.end(),
                     [](const Account& a, const Account& b) { return a.cpu > b.cpu; });
    std::vector<Account> result(accounts.begin(), accounts.begin() + keep);
    std::map<std::tuple<std::string, std::string, bool, bool, Ending>, std::size_t> places;
    for (std::size_t i = keep; i < accounts.size(); ++i) {
        const Account& account = accounts[i];
        const auto [place, fresh] = places.try_emplace(
            {account.exe, account.provider, account.witnessed, account.exact, account.ending},
            result.size());
        if (fresh) {
            result.push_back(account);
            continue;
        }
        Account& sum = result[place->second];
        sum.cpu += account.cpu;
        sum.count += 1;
        sum.peakBytes = std::max(sum.peakBytes, account.peakBytes); // nothing is below any number
    }
    return result;
}

} // namespace heapwright::harness
