// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See module_table.hpp; the records are those of native/trace/stacks.hpp.
#include "module_table.hpp"

#include "trace/blocks.hpp"

#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/pages.hpp>

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::recorder::stacks {

namespace {

std::byte* payloadOf(trace::BlockHeader* block) {
    return reinterpret_cast<std::byte*>(block) + sizeof(trace::BlockHeader);
}

/// The path of an object; the program itself has none in the loader's eyes.
std::size_t pathOf(const Image& image, char* path, std::size_t room) {
    if (*image.path != '\0') {
        const std::size_t length = std::min(std::strlen(image.path), room);
        std::memcpy(path, image.path, length);
        return length;
    }
    const platform::ErrnoKeeper keeper;
    const long length = ::syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, room);
    return length > 0 ? static_cast<std::size_t>(length) : 0;
}

} // namespace

bool ModuleTable::begin(const Host& host, Python& python) noexcept {
    host_ = host;
    python_ = &python;
    entries_ = static_cast<Entry*>(platform::reservePages(most * sizeof(Entry)));
    return entries_ != nullptr;
}

ModuleTable::Found ModuleTable::find(std::uint64_t address, Image& image) noexcept {
    for (std::size_t i = count_.load(std::memory_order_acquire); i > 0; --i) {
        const Entry& entry = entries_[i - 1];
        if (entry.image.contains(address) && !entry.gone.load(std::memory_order_relaxed)) {
            image = entry.image;
            return Found::yes;
        }
    }
    return add(address, image);
}

ModuleTable::Found ModuleTable::add(std::uint64_t address, Image& image) noexcept {
    if (!findImage(address, image)) {
        return Found::no;
    }
    const std::size_t count = count_.load(std::memory_order_relaxed);
    if (count == most) {
        return Found::yes;
    }
    if (adding_.exchange(true, std::memory_order_acquire)) {
        return Found::later;
    }
    Entry* const entry = ::new (static_cast<void*>(entries_ + count)) Entry{image, nullptr, false};
    entry->record = write(image);
    python_->look(image);
    count_.store(count + 1, std::memory_order_release);
    adding_.store(false, std::memory_order_release);
    return Found::yes;
}

/// Its record, behind those before it; null where the trace has no more room.
trace::ModuleLoaded* ModuleTable::write(const Image& image) noexcept {
    char path[2048];
    const std::size_t pathLength = pathOf(image, path, sizeof path);
    const trace::ModuleLoaded loaded{image.begin,
                                     image.end,
                                     image.bias,
                                     host_.now(),
                                     0,
                                     image.buildIdLength,
                                     static_cast<std::uint32_t>(pathLength)};
    const auto append = [&]() -> trace::ModuleLoaded* {
        if (block_ == nullptr) {
            return nullptr;
        }
        std::byte* const at = payloadOf(block_) + static_cast<std::uint32_t>(block_->published);
        const bool fits = trace::appendRecord(
            *block_, trace::record::moduleLoaded, trace::Piece{&loaded, sizeof loaded},
            trace::Piece{image.buildId, image.buildIdLength}, trace::Piece{path, pathLength});
        return fits ? reinterpret_cast<trace::ModuleLoaded*>(at + sizeof(trace::RecordHeader))
                    : nullptr;
    };
    trace::ModuleLoaded* record = append();
    if (record == nullptr) {
        block_ = static_cast<trace::BlockHeader*>(host_.claim(Table::modules, blockBytes));
        record = append();
    }
    return record;
}

bool ModuleTable::dropUnloaded() noexcept {
    bool any = false;
    const std::size_t count = count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
        Entry& entry = entries_[i];
        Image now;
        if (entry.gone.load(std::memory_order_relaxed) ||
            (findImage(entry.image.begin, now) && now.begin == entry.image.begin &&
             now.end == entry.image.end && now.bias == entry.image.bias)) {
            continue;
        }
        entry.gone.store(true, std::memory_order_relaxed);
        python_->forget(entry.image);
        any = true;
        if (entry.record != nullptr) {
            std::atomic_ref(entry.record->unloaded).store(host_.now(), std::memory_order_relaxed);
        }
    }
    return any;
}

void ModuleTable::afterForkInChild() noexcept {
    const std::size_t count = count_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < count; ++i) {
        entries_[i].record = nullptr;
    }
    block_ = nullptr;
    adding_.store(false, std::memory_order_relaxed);
}

} // namespace heapwright::recorder::stacks
