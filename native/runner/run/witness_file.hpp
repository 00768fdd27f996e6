// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The runner's side of the witnesses' shared file: makes it, and reads the records in it.
#pragma once

#include "runner/witness/format.hpp"

#include <cstdint>
#include <string>

namespace heapwright::runner {

class WitnessFile {
public:
    /// Makes the file, sparse and zero; false, with errno, if that fails. It is for this user
    /// alone, or, where root runs a command that may become another user, for all who can reach its
    /// folder.
    bool create(const char* path);

    bool exists() const { return file_ != nullptr; }
    std::uint32_t records() const;
    /// Processes that found no record free.
    std::uint64_t lost() const;
    /// Null while the record is not yet valid.
    const witness::Record* record(std::uint32_t index) const;
    std::uint32_t reapedRecords() const;
    /// Null while the record is not yet valid.
    const witness::Reaped* reaped(std::uint32_t index) const;
    std::string text(std::uint16_t reference) const;

private:
    witness::File* file_ = nullptr;
};

} // namespace heapwright::runner
