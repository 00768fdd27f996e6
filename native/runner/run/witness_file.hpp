// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The runner's side of the witnesses' shared file: creates it and reads its records.
#pragma once

#include "runner/witness/format.hpp"

#include <cstdint>
#include <string>

namespace heapwright::runner {

class WitnessFile {
public:
    /// Creates the file, sparse and zero. Returns false, with errno, on failure. Only this user can
    /// access it. If root runs it, all users that can reach its folder can, because the command may
    /// change its user.
    bool create(const char* path);

    bool exists() const { return file_ != nullptr; }
    std::uint32_t records() const;
    /// The number of processes that found no free record.
    std::uint64_t lost() const;
    /// Null while the record is not valid.
    const witness::Record* record(std::uint32_t index) const;
    std::uint32_t reapedRecords() const;
    /// Null while the record is not valid.
    const witness::Reaped* reaped(std::uint32_t index) const;
    std::string text(std::uint16_t reference) const;

private:
    witness::File* file_ = nullptr;
};

} // namespace heapwright::runner
