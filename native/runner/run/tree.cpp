// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See tree.hpp.
#include "tree.hpp"

#include "procfs.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <unistd.h>

namespace heapwright::runner {

Member* Tree::find(pid_t pid) {
    const auto found = alive_.find(pid);
    return found == alive_.end() ? nullptr : &members_[found->second];
}

void Tree::adopt(pid_t pid, pid_t parent) {
    Member member;
    member.pid = pid;
    member.parent = parent;
    member.firstSeen = member.lastSeen = nowNs();
    member.statm = openStatm(pid);
    member.cpu = cpuOf(pid).value_or(0);
    lookAtProgram(member);
    alive_.emplace(pid, members_.size());
    members_.push_back(std::move(member));
}

void Tree::lookAtProgram(Member& member) {
    std::string exe = readExe(member.pid);
    if (exe.empty() && !member.spans.empty()) {
        return; // it is ending
    }
    if (member.spans.empty() || member.spans.back().exe != exe) {
        const Nanoseconds cpu = member.spans.empty() ? 0 : cpuOf(member.pid).value_or(member.cpu);
        member.cpu = std::max(member.cpu, cpu);
        member.spans.push_back({std::move(exe), nowNs(), cpu});
    }
}

void Tree::bury(Member& member) {
    member.gone = nowNs();
    if (member.statm >= 0) {
        close(member.statm);
        member.statm = -1;
    }
}

/// Follows the parents upwards to a known process, and records the result for those on the way.
bool Tree::belongs(pid_t pid) {
    if (pid == reaper_ || alive_.contains(pid)) {
        return true;
    }
    if (pid <= 1 || isStranger(pid)) {
        return false;
    }
    const auto stat = readStat(pid);
    if (!stat) {
        return false; // it ended meanwhile
    }
    if (!belongs(stat->parent)) {
        strangers_.insert(pid);
        return false;
    }
    if (!stat->dead()) {
        adopt(pid, stat->parent);
    }
    return true;
}

void Tree::adoptReported() {
    const std::uint32_t count = witness_.records();
    for (; reported_ < count; ++reported_) {
        const witness::Record* const record = witness_.record(reported_);
        if (record == nullptr) {
            return; // it is being written
        }
        if ((record->state.load(std::memory_order_relaxed) & witness::exited) != 0) {
            continue;
        }
        strangers_.erase(record->pid); // the pid was a stranger's that has ended
        if (Member* const known = find(record->pid)) {
            lookAtProgram(*known);
        } else {
            belongs(record->pid);
        }
    }
}

std::vector<pid_t> Tree::listed() const {
    std::vector<pid_t> pids;
    DIR* const folder = opendir("/proc");
    if (folder == nullptr) {
        return pids;
    }
    while (const dirent* const entry = readdir(folder)) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
            pids.push_back(static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10)));
        }
    }
    closedir(folder);
    return pids;
}

void Tree::scan() {
    const std::vector<pid_t> pids = listed();
    for (const auto& [pid, index] : alive_) {
        lookAtProgram(members_[index]);
    }
    std::unordered_set<pid_t> present;
    for (const pid_t pid : pids) {
        belongs(pid);
        if (isStranger(pid)) {
            present.insert(pid);
        }
    }
    strangers_ = std::move(present);
}

std::int64_t Tree::sample() {
    std::int64_t sum = 0;
    for (auto at = alive_.begin(); at != alive_.end();) {
        Member& member = members_[at->second];
        if (member.statm < 0) { // too many descriptors are open
            member.statm = openStatm(member.pid);
        }
        const auto bytes = member.statm >= 0 ? residentBytes(member.statm) : std::nullopt;
        if (!bytes) {
            bury(member);
            at = alive_.erase(at);
            continue;
        }
        member.cpu = std::max(member.cpu, cpuOf(member.pid).value_or(0));
        member.lastSeen = nowNs();
        member.peakBytes = std::max(member.peakBytes, *bytes);
        member.lastBytes = *bytes > 0 ? *bytes : member.lastBytes;
        sum += *bytes;
        ++at;
    }
    return sum;
}

Member& Tree::noteDeath(pid_t pid) {
    if (find(pid) == nullptr) {
        adopt(pid, reaper_);
    }
    Member& member = *find(pid);
    member.cpu = std::max(member.cpu, cpuOf(pid).value_or(0));
    member.lastSeen = nowNs();
    member.reaped = true;
    bury(member);
    alive_.erase(pid);
    return member;
}

int Tree::signalAll(int signal) {
    scan();
    int count = 0;
    for (const auto& [pid, index] : alive_) {
        const auto stat = readStat(pid);
        if (stat && !stat->dead()) {
            ++count;
            if (signal != 0) {
                members_[index].signalled = true;
                kill(pid, signal);
            }
        }
    }
    return count;
}

} // namespace heapwright::runner
