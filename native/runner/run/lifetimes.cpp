// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See lifetimes.hpp. Records are read in the order in which they were claimed, so the lifetimes of
// one pid are found in the order of time.
#include "lifetimes.hpp"

namespace heapwright::runner {

namespace {

using witness::Reaped;
using witness::Record;

// A dead process may be sampled before its parent waits for it.
constexpr Nanoseconds slack = second;

/// An image continues the last process with its pid, unless that process has exited, or the CPU
/// clock, which continues through exec, has gone back. In these cases the pid was reused.
bool continues(const ProcessLifetime& lifetime, const Record& record) {
    return !hasBit(record, witness::forked) && !hasBit(record, witness::late) &&
           !lifetime.exited() && record.cpuStartNs >= lifetime.images.back()->cpuStartNs;
}

class LifetimeBuilder {
public:
    std::vector<ProcessLifetime> of(const WitnessFile& witness,
                                    const std::vector<Member>& members) {
        for (std::uint32_t i = 0; i < witness.records(); ++i) {
            // Otherwise the process was killed while writing it.
            if (const Record* const record = witness.record(i)) {
                addImage(*record);
            }
        }
        for (std::uint32_t i = 0; i < witness.reapedRecords(); ++i) {
            if (const Reaped* const reaped = witness.reaped(i)) {
                addReaped(*reaped);
            }
        }
        for (const Member& member : members) {
            addMember(member);
        }
        for (std::size_t i = 0; i < lifetimes_.size(); ++i) {
            joinParent(i);
        }
        return std::move(lifetimes_);
    }

private:
    ProcessLifetime& fresh(pid_t pid, pid_t parent) {
        byPid_[pid].push_back(lifetimes_.size());
        ProcessLifetime lifetime;
        lifetime.pid = pid;
        lifetime.parent = parent;
        lifetimes_.push_back(std::move(lifetime));
        return lifetimes_.back();
    }

    /// The latest lifetime of that pid that satisfies `fit`, or null.
    template <class Fit>
    ProcessLifetime* latest(pid_t pid, const Fit& fit) {
        const auto found = byPid_.find(pid);
        if (found != byPid_.end()) {
            for (auto at = found->second.rbegin(); at != found->second.rend(); ++at) {
                if (fit(lifetimes_[*at])) {
                    return &lifetimes_[*at];
                }
            }
        }
        return nullptr;
    }

    void addImage(const Record& record) {
        const std::vector<std::size_t>& ofPid = byPid_[record.pid];
        const bool goesOn = !ofPid.empty() && continues(lifetimes_[ofPid.back()], record);
        ProcessLifetime& lifetime =
            goesOn ? lifetimes_[ofPid.back()] : fresh(record.pid, record.parent);
        lifetime.images.push_back(&record);
    }

    void addReaped(const Reaped& reaped) {
        ProcessLifetime* const known =
            latest(reaped.pid, [&reaped](const ProcessLifetime& lifetime) {
                return lifetime.begin() <= ns(reaped.timeNs);
            });
        const bool taken = known == nullptr || known->reaped != nullptr;
        ProcessLifetime& lifetime = taken ? fresh(reaped.pid, reaped.reaper) : *known;
        lifetime.reaped = &reaped;
    }

    void addMember(const Member& member) {
        ProcessLifetime* const known =
            latest(member.pid, [&member](const ProcessLifetime& lifetime) {
                const bool begun = member.gone == 0 || lifetime.begin() <= member.gone;
                const bool there =
                    lifetime.end() == 0 || lifetime.end() + slack >= member.firstSeen;
                return lifetime.member == nullptr && begun && there;
            });
        ProcessLifetime& lifetime = known != nullptr ? *known : fresh(member.pid, member.parent);
        lifetime.member = &member;
    }

    void joinParent(std::size_t index) {
        const Nanoseconds begin = lifetimes_[index].begin();
        const Nanoseconds when = begin != 0 ? begin : lifetimes_[index].end();
        ProcessLifetime* const parent =
            latest(lifetimes_[index].parent,
                   [when](const ProcessLifetime& lifetime) { return lifetime.begin() <= when; });
        if (parent != nullptr && parent != &lifetimes_[index]) {
            parent->children.push_back(index);
        }
    }

    std::vector<ProcessLifetime> lifetimes_;
    std::unordered_map<pid_t, std::vector<std::size_t>> byPid_;
};

} // namespace

bool hasBit(const Record& record, std::uint32_t bit) {
    return (record.state.load(std::memory_order_relaxed) & bit) != 0;
}

Nanoseconds ProcessLifetime::begin() const {
    if (!images.empty()) {
        return ns(images.front()->startNs);
    }
    return member != nullptr ? member->firstSeen : 0;
}

Nanoseconds ProcessLifetime::end() const {
    if (reaped != nullptr) {
        return ns(reaped->timeNs);
    }
    if (exited()) {
        return ns(images.back()->endNs);
    }
    return member != nullptr ? member->gone : 0;
}

bool ProcessLifetime::exited() const {
    return !images.empty() && hasBit(*images.back(), witness::exited);
}

std::vector<ProcessLifetime> gatherLifetimes(const WitnessFile& witness,
                                             const std::vector<Member>& members) {
    return LifetimeBuilder().of(witness, members);
}

} // namespace heapwright::runner
