// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "copy.hpp"

#include "mappings.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>

namespace heapwright::look {

namespace {

constexpr std::size_t leastRoom = 4 << 20;
constexpr std::size_t pieceBytes = 1 << 20;
constexpr std::size_t leastShared = 8 << 20; ///< bytes for which a second thread is worth it

std::size_t availableBytes() {
    const std::string text = contentOf("/proc/meminfo");
    const std::size_t at = text.find("MemAvailable:");
    return at == std::string::npos ? 0 : std::stoull(text.substr(at + 13)) * 1024;
}

} // namespace

CopyImage::CopyImage(const ProcessImage& process) : process_(process) {
    std::size_t resident = 0;
    for (const Mapping& mapping : process.mappings()) {
        resident += mapping.isData() || mapping.isSealed() ? mapping.resident : 0;
    }
    size_ = pageUp(resident + resident / 10 + leastRoom);
    if (size_ > availableBytes() / 4 * 3) {
        throw std::runtime_error("there is no room for a copy of its memory, " +
                                 std::to_string(size_ >> 20) + " MiB");
    }
    void* const room =
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        throw std::runtime_error("there is no room for a copy of its memory");
    }
    room_ = static_cast<char*>(room);
    madvise(room, size_, MADV_HUGEPAGE);
    for (std::size_t at = 0; at < size_; at += pageBytes) {
        room_[at] = 1;
    }
}

CopyImage::~CopyImage() {
    munmap(room_, size_);
}

std::size_t CopyImage::copy() {
    mappings_ = process_.mappingsNow();
    for (Mapping& mapping : mappings_) {
        const Mapping* const before = process_.find(mapping.begin);
        if (before != nullptr && before->begin == mapping.begin) {
            mapping.anonymous = before->anonymous;
        }
        if (mapping.isData() || mapping.isSealed()) {
            addRuns(mapping);
        }
    }
    copyRuns();
    return used_;
}

/// Two threads divide the work, because the kernel's part of it takes longer than the memory.
void CopyImage::copyRuns() {
    std::vector<Run> pieces;
    for (const Run& run : runs_) {
        for (Address at = run.begin; run.copy != nullptr && at < run.end; at += pieceBytes) {
            pieces.push_back(
                {at, std::min(run.end, at + pieceBytes), run.state, run.copy + (at - run.begin)});
        }
    }
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t at = next++; at < pieces.size(); at = next++) {
            const Run& piece = pieces[at];
            process_.copy(piece.begin, room_ + (piece.copy - room_), piece.end - piece.begin);
        }
    };
    if (used_ < leastShared) {
        work();
        return;
    }
    std::thread second(work);
    work();
    second.join();
}

/// Finds the resident stretches of a mapping and gives them room.
void CopyImage::addRuns(const Mapping& mapping) {
    constexpr std::size_t atOnce = 4096;
    Page states[atOnce];
    for (Address at = mapping.begin; at < mapping.end;) {
        const std::size_t count = std::min<std::uint64_t>(atOnce, (mapping.end - at) / pageBytes);
        process_.pages(at, count, states);
        for (std::size_t page = 0; page < count;) {
            std::size_t behind = page + 1;
            while (behind < count && states[behind] == states[page]) {
                ++behind;
            }
            const Address begin = at + page * pageBytes;
            const Address end = at + behind * pageBytes;
            if (states[page] == Page::resident && used_ + (end - begin) <= size_) {
                runs_.push_back({begin, end, Page::resident, room_ + used_});
                used_ += end - begin;
            } else if (states[page] != Page::absent) {
                runs_.push_back({begin, end, Page::swapped, nullptr});
            }
            page = behind;
        }
        at += count * pageBytes;
    }
}

const CopyImage::Run* CopyImage::find(Address at) const {
    const auto after =
        std::upper_bound(runs_.begin(), runs_.end(), at,
                         [](Address wanted, const Run& each) { return wanted < each.end; });
    return after == runs_.end() ? nullptr : &*after;
}

bool CopyImage::read(Address at, void* to, std::size_t bytes) const {
    auto* bytesTo = static_cast<char*>(to);
    bool complete = true;
    while (bytes > 0) {
        const Run* const run = find(at);
        const bool inside = run != nullptr && run->begin <= at;
        const Address end = run == nullptr ? at + bytes : inside ? run->end : run->begin;
        const std::size_t part = std::min<std::uint64_t>(bytes, end - at);
        if (inside && run->copy != nullptr) {
            std::memcpy(bytesTo, run->copy + (at - run->begin), part);
        } else {
            std::memset(bytesTo, 0, part);
            complete &= !inside;
        }
        at += part;
        bytesTo += part;
        bytes -= part;
    }
    return complete;
}

void CopyImage::pages(Address at, std::size_t count, Page* to) const {
    const Run* run = find(at);
    const Run* const end = runs_.data() + runs_.size();
    for (std::size_t page = 0; page < count; ++page, at += pageBytes) {
        while (run != nullptr && run != end && run->end <= at) {
            ++run;
        }
        const bool inside = run != nullptr && run != end && run->begin <= at;
        to[page] = inside ? run->state : Page::absent;
    }
}

} // namespace heapwright::look
