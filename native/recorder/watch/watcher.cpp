// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "watcher.hpp"

#include <algorithm>
#include <ctime>

namespace heapwright::recorder::watch {

namespace {

constexpr std::uint64_t millisecond = 1'000'000;
constexpr std::uint64_t share = 200;                 // the watcher may use 1/share of a processor
constexpr std::uint64_t credit = 20 * millisecond;   // of CPU time: short runs get many samples
constexpr std::uint64_t newcomer = 10 * millisecond; // delay until a new process is found

std::uint64_t clockNs(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

bool Watcher::open(const char* path) {
    open_ = file_.open(path);
    began_ = due_ = clockNs(CLOCK_MONOTONIC);
    return open_;
}

std::uint64_t Watcher::tick() {
    if (!open_) {
        return 1000 * millisecond;
    }
    const std::uint64_t used = clockNs(CLOCK_THREAD_CPUTIME_ID);
    const std::uint64_t now = clockNs(CLOCK_MONOTONIC);
    adopt();
    if (now >= due_ && !watched_.empty()) {
        std::erase_if(watched_, [](const auto& each) { return !each->look(); });
        last_ = clockNs(CLOCK_THREAD_CPUTIME_ID) - used;
        spent_ += last_;
        due_ = now + pause(now);
    }
    const std::uint64_t wait = due_ > now ? due_ - now : millisecond;
    return std::min(wait, newcomer);
}

/// A process that appears anew under its number has become another program, or is another one.
void Watcher::adopt() {
    found_.clear();
    file_.follow(found_);
    for (const Started& started : found_) {
        std::erase_if(watched_, [&](const auto& each) { return each->pid() == started.pid; });
        watched_.push_back(std::make_unique<Watched>(file_, started.process, started.pid));
        due_ = 0;
    }
}

std::uint64_t Watcher::pause(std::uint64_t now) const {
    const std::uint64_t elapsed = now - began_;
    const std::uint64_t wished =
        std::max(std::clamp(elapsed / 50, millisecond, 10 * millisecond), elapsed / 2000);
    const std::uint64_t owed = spent_ > credit ? (spent_ - credit) * share : 0;
    const std::uint64_t longest =
        std::max(last_ * 20, elapsed / 20); // one dear look is not the end
    return std::max(wished, std::min(owed > elapsed ? owed - elapsed : 0, longest));
}

void Watcher::close() {
    watched_.clear();
    open_ = false;
}

} // namespace heapwright::recorder::watch
