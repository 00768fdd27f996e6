// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See witness_file.hpp.
#include "witness_file.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heapwright::runner {

bool WitnessFile::create(const char* path) {
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) {
        return false;
    }
    void* address = MAP_FAILED;
    // Only a process that root started can change its user and still be preloaded.
    fchmod(file, geteuid() == 0 ? 0666 : 0600);
    if (ftruncate(file, sizeof(witness::File)) == 0) {
        address = mmap(nullptr, sizeof(witness::File), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    close(file);
    if (address == MAP_FAILED) {
        return false;
    }
    file_ = static_cast<witness::File*>(address);
    file_->magic = witness::magic;
    return true;
}

namespace {

std::uint32_t bounded(const std::atomic<std::uint64_t>& claimed) {
    const std::uint64_t count = claimed.load(std::memory_order_acquire);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, witness::recordCapacity));
}

template <class Record>
const Record* valid(const Record& record) {
    const std::uint32_t state = record.state.load(std::memory_order_acquire);
    return (state & witness::published) != 0 ? &record : nullptr;
}

} // namespace

std::uint32_t WitnessFile::records() const {
    return file_ != nullptr ? bounded(file_->claimed) : 0;
}

std::uint32_t WitnessFile::reapedRecords() const {
    return file_ != nullptr ? bounded(file_->claimedReaped) : 0;
}

std::uint64_t WitnessFile::lost() const {
    return file_ == nullptr ? 0 : file_->claimed.load() - records();
}

const witness::Record* WitnessFile::record(std::uint32_t index) const {
    return valid(file_->records[index]);
}

const witness::Reaped* WitnessFile::reaped(std::uint32_t index) const {
    return valid(file_->reaped[index]);
}

std::string WitnessFile::text(std::uint16_t reference) const {
    if (reference == 0 || reference > witness::textCapacity) {
        return {};
    }
    const witness::Text& text = file_->texts[reference - 1U];
    return text.ready.load(std::memory_order_acquire) != 0
               ? std::string(text.bytes, strnlen(text.bytes, sizeof text.bytes))
               : std::string();
}

} // namespace heapwright::runner
