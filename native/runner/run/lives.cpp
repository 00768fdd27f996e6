// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See lives.hpp. The records are met in the order in which they were claimed, so the lives of one
// pid come out in the order of time.
#include "lives.hpp"

namespace heapwright::runner {

namespace {

using witness::Reaped;
using witness::Record;

constexpr Nanoseconds slack = second; // a dead process may be met before its parent waits for it

/// An image continues the process that last had its pid, unless that one has left, or the CPU
/// clock, which runs on through exec, has gone back: then the pid has been used again.
bool continues(const Life& life, const Record& record) {
    return !has(record, witness::forked) && !has(record, witness::late) && !life.left() &&
           record.cpuStartNs >= life.images.back()->cpuStartNs;
}

class Gathering {
public:
    std::vector<Life> of(const WitnessFile& witness, const std::vector<Member>& members) {
        for (std::uint32_t i = 0; i < witness.records(); ++i) {
            if (const Record* const record = witness.record(i)) { // else killed while writing
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
        for (std::size_t i = 0; i < lives_.size(); ++i) {
            joinParent(i);
        }
        return std::move(lives_);
    }

private:
    Life& fresh(pid_t pid, pid_t parent) {
        byPid_[pid].push_back(lives_.size());
        Life life;
        life.pid = pid;
        life.parent = parent;
        lives_.push_back(std::move(life));
        return lives_.back();
    }

    /// The latest life of that pid that is fit, or null.
    template <class Fit>
    Life* latest(pid_t pid, const Fit& fit) {
        const auto found = byPid_.find(pid);
        if (found != byPid_.end()) {
            for (auto at = found->second.rbegin(); at != found->second.rend(); ++at) {
                if (fit(lives_[*at])) {
                    return &lives_[*at];
                }
            }
        }
        return nullptr;
    }

    void addImage(const Record& record) {
        const std::vector<std::size_t>& ofPid = byPid_[record.pid];
        const bool goesOn = !ofPid.empty() && continues(lives_[ofPid.back()], record);
        Life& life = goesOn ? lives_[ofPid.back()] : fresh(record.pid, record.parent);
        life.images.push_back(&record);
    }

    void addReaped(const Reaped& reaped) {
        Life* const known = latest(
            reaped.pid, [&reaped](const Life& life) { return life.begin() <= ns(reaped.timeNs); });
        const bool taken = known == nullptr || known->reaped != nullptr;
        Life& life = taken ? fresh(reaped.pid, reaped.reaper) : *known;
        life.reaped = &reaped;
    }

    void addMember(const Member& member) {
        Life* const known = latest(member.pid, [&member](const Life& life) {
            const bool begun = member.gone == 0 || life.begin() <= member.gone;
            const bool there = life.end() == 0 || life.end() + slack >= member.firstSeen;
            return life.member == nullptr && begun && there;
        });
        Life& life = known != nullptr ? *known : fresh(member.pid, member.parent);
        life.member = &member;
    }

    void joinParent(std::size_t index) {
        const Nanoseconds begin = lives_[index].begin();
        const Nanoseconds when = begin != 0 ? begin : lives_[index].end();
        Life* const parent =
            latest(lives_[index].parent, [when](const Life& life) { return life.begin() <= when; });
        if (parent != nullptr && parent != &lives_[index]) {
            parent->children.push_back(index);
        }
    }

    std::vector<Life> lives_;
    std::unordered_map<pid_t, std::vector<std::size_t>> byPid_;
};

} // namespace

bool has(const Record& record, std::uint32_t bit) {
    return (record.state.load(std::memory_order_relaxed) & bit) != 0;
}

Nanoseconds Life::begin() const {
    if (!images.empty()) {
        return ns(images.front()->startNs);
    }
    return member != nullptr ? member->firstSeen : 0;
}

Nanoseconds Life::end() const {
    if (reaped != nullptr) {
        return ns(reaped->timeNs);
    }
    if (left()) {
        return ns(images.back()->endNs);
    }
    return member != nullptr ? member->gone : 0;
}

bool Life::left() const {
    return !images.empty() && has(*images.back(), witness::exited);
}

std::vector<Life> gatherLives(const WitnessFile& witness, const std::vector<Member>& members) {
    return Gathering().of(witness, members);
}

} // namespace heapwright::runner
